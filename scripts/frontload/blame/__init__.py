"""Where names were lost: the history of a startup profile, in git or as files, and its builds."""
