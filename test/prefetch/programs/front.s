# A front of 32 MiB that nothing in the program touches, something behind it, and room for the note,
# which the test fills in after the link: position-independent code has no addresses before. Large,
# because a single page fault may read many megabytes around it, as the disk's readahead says.
    .section .rodata.front, "aR", @progbits
    .fill 32 << 17, 8, 1
    .globl front_end
front_end:
    .fill 1 << 17, 8, 1

    .section .note.frontload, "a", @note
    .balign 4
    .zero 336

    .section .note.GNU-stack, "", @progbits
