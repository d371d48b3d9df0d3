/* The object with room for a note, for links by any linker: `frontload finish` fills the note in.
 *
 * The file has no code, so it claims all features (branch protection and the like) that its
 * compiler can: a program keeps those of its other objects.
 */
#include "format/frontload_note.h"

enum { ROOM = 16 * FRONTLOAD_NOTE_MAX_RANGES };

static const struct {
  struct frontload_note note;
  unsigned char room[ROOM];
} blank
    __attribute__((used, section(FRONTLOAD_NOTE_SECTION), aligned(FRONTLOAD_NOTE_ALIGNMENT))) = {
        .note = {sizeof FRONTLOAD_NOTE_NAME, 8 + ROOM, FRONTLOAD_NOTE_TYPE, FRONTLOAD_NOTE_NAME,
                 FRONTLOAD_NOTE_VERSION, 0}};
