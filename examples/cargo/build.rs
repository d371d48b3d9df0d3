// Cargo cannot know that a link reads the startup profile, and depends on the mode.
fn main() {
    println!("cargo:rerun-if-changed=startup");
    println!("cargo:rerun-if-env-changed=FRONTLOAD");
}
