"""Numbers of the ELF specification, by the names that it gives them."""

SHT_SYMTAB, SHT_RELA = 2, 4
SHT_DYNAMIC, SHT_NOTE, SHT_NOBITS, SHT_REL = 6, 7, 8, 9
SHT_DYNSYM, SHT_SYMTAB_SHNDX, SHT_RELR = 11, 18, 19
SHT_ARRAYS = 14, 15, 16  # .init_array, .fini_array and .preinit_array
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS = 1, 2, 4, 0x400
SHN_LORESERVE, SHN_ABS, SHN_COMMON, SHN_XINDEX = 0xff00, 0xfff1, 0xfff2, 0xffff
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION, STT_FILE = 0, 1, 2, 3, 4
STT_TLS, STT_GNU_IFUNC = 6, 10
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
STV_DEFAULT, STV_PROTECTED = 0, 3

# Symbols of these types name no function and no datum of their section.
STT_NO_PLACE = STT_SECTION, STT_FILE, STT_TLS
