/* Reads the needed parts of an ELF file, in bounded time, whatever is in it. */
#include "module_file.h"

#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_vki.h>

#include "base/machine.h"
#include "base/notes.h"

#include <elf.h>

/* Of the core, in every version: an errno if Valgrind refuses to run a program, because it is not
 * executable or has rights of its own. */
extern Int VG_(check_executable)(Bool *is_setuid, const HChar *name, Bool allow_setuid);

enum { MAX_HEADERS = 64, MAX_NOTES = 4096, MAX_DYNAMIC = 512, MAX_NAME = 4096 };
/* Larger symbol tables are not searched. */
static const ULong max_table = 1ULL << 30;
/* No start uses more memory than this behind a file's bytes; a file may claim more. */
static const ULong max_memory = 1ULL << 30;

static ModuleFile *files;

ModuleFile *module_files(void) { return files; }

/* Valgrind's strrchr misses a slash at the beginning. */
const HChar *module_name(const HChar *path) {
  const HChar *name = path;
  for (; *path; ++path)
    if (*path == '/')
      name = path + 1;
  return name;
}

static Bool read_at(Int fd, ULong offset, void *bytes, ULong size) {
  return size <= 0x7fffffff && VG_(lseek)(fd, offset, VKI_SEEK_SET) == (Off64T)offset &&
         VG_(read)(fd, bytes, size) == (Int)size;
}

/* A zero-terminated copy of the text at an offset, "" if there is none. */
static HChar *text_at(Int fd, ULong offset) {
  HChar text[MAX_NAME] = "";
  if (VG_(lseek)(fd, offset, VKI_SEEK_SET) == (Off64T)offset) {
    Int size = VG_(read)(fd, text, sizeof text - 1);
    text[size < 0 ? 0 : size] = 0;
  }
  return VG_(strdup)("frontload.text", text);
}

static void read_build_id(ModuleFile *file, Int fd, const Elf64_Phdr *header) {
  static UChar bytes[MAX_NOTES];
  struct note id;
  struct notes notes = {bytes, header->p_filesz, note_alignment(header->p_align)};
  if (notes.size > sizeof bytes)
    notes.size = sizeof bytes;
  if (!read_at(fd, header->p_offset, bytes, notes.size) || !find_build_id(notes, MAX_BUILD_ID, &id))
    return;
  VG_(memcpy)(file->build_id, id.descriptor, id.descriptor_size);
  file->build_id_size = id.descriptor_size;
}

/* The offset in the file of an address; all ones if it is not in the file. */
static ULong offset_of(const Elf64_Phdr *headers, UInt count, Addr address) {
  for (UInt i = 0; i < count; ++i)
    if (headers[i].p_type == PT_LOAD && address >= headers[i].p_vaddr &&
        address - headers[i].p_vaddr < headers[i].p_filesz)
      return address - headers[i].p_vaddr + headers[i].p_offset;
  return ~0ULL;
}

static void read_soname(ModuleFile *file, Int fd, const Elf64_Phdr *headers, UInt count,
                        const Elf64_Phdr *dynamic) {
  static Elf64_Dyn entries[MAX_DYNAMIC];
  ULong size = dynamic->p_filesz < sizeof entries ? dynamic->p_filesz : sizeof entries;
  if (!read_at(fd, dynamic->p_offset, entries, size))
    return;
  ULong name = ~0ULL, names = ~0ULL;
  for (UInt i = 0; i < size / sizeof *entries && entries[i].d_tag != DT_NULL; ++i) {
    if (entries[i].d_tag == DT_SONAME)
      name = entries[i].d_un.d_val;
    else if (entries[i].d_tag == DT_STRTAB)
      names = offset_of(headers, count, entries[i].d_un.d_ptr);
  }
  if (name != ~0ULL && names != ~0ULL)
    file->soname = text_at(fd, names + name);
}

/* The name that the kernel has for an open file. */
static HChar *path_of(Int fd, const HChar *otherwise) {
  HChar link[32], path[MAX_NAME];
  VG_(sprintf)(link, "/proc/self/fd/%d", fd);
  SSizeT size = VG_(readlink)(link, path, sizeof path - 1);
  path[size < 0 ? 0 : size] = 0;
  return VG_(strdup)("frontload.path", size > 0 ? path : otherwise);
}

static ULong size_of(Int fd) {
  struct vg_stat status;
  return VG_(fstat)(fd, &status) == 0 ? status.size : 0;
}

static ModuleFile *read_file(Int fd, const HChar *name) {
  Elf64_Ehdr head;
  static Elf64_Phdr headers[MAX_HEADERS];
  if (!read_at(fd, 0, &head, sizeof head) || VG_(memcmp)(head.e_ident, ELFMAG, SELFMAG) ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != FRONTLOAD_MACHINE ||
      head.e_phentsize != sizeof *headers)
    return NULL;
  UInt count = head.e_phnum < MAX_HEADERS ? head.e_phnum : MAX_HEADERS;
  if (!read_at(fd, head.e_phoff, headers, count * sizeof *headers))
    return NULL;
  ModuleFile *file = VG_(calloc)("frontload.file", 1, sizeof *file);
  file->path = path_of(fd, name);
  file->begin = ~(Addr)0;
  file->is_position_independent = head.e_type == ET_DYN;
  for (UInt i = 0; i < count; ++i) {
    const Elf64_Phdr *h = &headers[i];
    if (h->p_type == PT_INTERP && !file->interpreter)
      file->interpreter = text_at(fd, h->p_offset);
    else if (h->p_type == PT_NOTE && !file->build_id_size)
      read_build_id(file, fd, h);
    else if (h->p_type == PT_DYNAMIC && !file->soname)
      read_soname(file, fd, headers, count, h);
    if (h->p_type != PT_LOAD || h->p_memsz > (1ULL << 47) || h->p_vaddr > (1ULL << 47))
      continue;
    if (h->p_vaddr < file->begin)
      file->begin = h->p_vaddr;
    if (h->p_vaddr + h->p_memsz > file->end)
      file->end = h->p_vaddr + h->p_memsz;
    if ((h->p_flags & PF_X) && file->num_code < MAX_CODE_SEGMENTS)
      file->code[file->num_code++] = (CodeSegment){h->p_vaddr, h->p_offset, h->p_filesz};
  }
  ULong max_size = size_of(fd) + max_memory;
  if (file->begin < file->end && file->end - file->begin > max_size) {
    file->end = file->begin + max_size;
    file->is_cut = True;
  }
  return file;
}

Bool module_can_run(const HChar *name) {
  if (VG_(check_executable)(NULL, name, False) != 0)
    return False;
  /* It may be a pipe without a writer. */
  SysRes opened = VG_(open)(name, VKI_O_RDONLY | VKI_O_NONBLOCK, 0);
  if (sr_isError(opened))
    return False;
  Elf64_Ehdr head;
  VG_(memset)(&head, 0, sizeof head);
  VG_(read)(sr_Res(opened), &head, sizeof head);
  VG_(close)(sr_Res(opened));
  if (head.e_ident[0] == '#' && head.e_ident[1] == '!')
    return True;
  return VG_(memcmp)(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
         head.e_ident[EI_DATA] == ELFDATA2LSB && head.e_machine == FRONTLOAD_MACHINE;
}

/* Whether two files are of one build, as far as their headers tell. */
static Bool is_alike(const ModuleFile *a, const ModuleFile *b) {
  return a->build_id_size == b->build_id_size &&
         VG_(memcmp)(a->build_id, b->build_id, a->build_id_size) == 0 && a->begin == b->begin &&
         a->end == b->end && a->num_code == b->num_code &&
         VG_(memcmp)(a->code, b->code, sizeof a->code) == 0;
}

Bool module_is_copy(const ModuleFile *a, const ModuleFile *b) {
  return a == b || (a->build_id_size && is_alike(a, b));
}

ModuleFile *module_file(const HChar *name) {
  SysRes opened = VG_(open)(name, VKI_O_RDONLY, 0);
  if (sr_isError(opened))
    return NULL;
  ModuleFile *file = read_file(sr_Res(opened), name);
  VG_(close)(sr_Res(opened));
  if (!file || file->begin >= file->end)
    return NULL;
  for (ModuleFile *known = files; known; known = known->next)
    if (VG_STREQ(known->path, file->path) && is_alike(known, file)) {
      VG_(free)(file->path);
      VG_(free)(file->interpreter);
      VG_(free)(file->soname);
      VG_(free)(file);
      return known;
    }
  file->next = files;
  return files = file;
}

Bool module_bias(const ModuleFile *file, ULong offset, Addr address, Addr *bias) {
  /* Two segments may share a page of the file; a mapping begins where its segment does. */
  const CodeSegment *found = NULL;
  for (UInt i = 0; i < file->num_code; ++i) {
    const CodeSegment *code = &file->code[i];
    ULong first = VG_PGROUNDDN(code->offset);
    if (offset == first || (!found && offset > first && offset < code->offset + code->size))
      found = code;
  }
  if (!found)
    return False;
  *bias = address - (found->address - found->offset + offset);
  return VG_PGROUNDDN(*bias) == *bias; /* else no loader has mapped it: touches.c counts
                                        * granules from the beginning of a module */
}

/* `left` is how much of the file may still be read as tables, which do not overlap in an honest
 * file. */
static Bool find_in_table(Int fd, const Elf64_Shdr *symbols, const Elf64_Shdr *names,
                          const HChar *name, ULong *left, Addr *address, ULong *size) {
  /* Before allocation: Valgrind ends the program if there is no room. */
  ULong max_size = *left < max_table ? *left : max_table;
  if (symbols->sh_size > max_size || names->sh_size > max_size - symbols->sh_size ||
      !names->sh_size || symbols->sh_entsize != sizeof(Elf64_Sym))
    return False;
  *left -= symbols->sh_size + names->sh_size;
  Elf64_Sym *table = VG_(malloc)("frontload.symbols", symbols->sh_size);
  HChar *texts = VG_(malloc)("frontload.names", names->sh_size);
  Bool found = False;
  if (read_at(fd, symbols->sh_offset, table, symbols->sh_size) &&
      read_at(fd, names->sh_offset, texts, names->sh_size) && texts[names->sh_size - 1] == 0)
    for (ULong i = 0; i < symbols->sh_size / sizeof *table && !found; ++i) {
      const Elf64_Sym *s = &table[i];
      UInt type = ELF64_ST_TYPE(s->st_info);
      if ((type != STT_FUNC && type != STT_GNU_IFUNC) || s->st_shndx == SHN_UNDEF ||
          s->st_name >= names->sh_size || !VG_STREQ(texts + s->st_name, name))
        continue;
      *address = s->st_value;
      *size = s->st_size;
      found = True;
    }
  VG_(free)(table);
  VG_(free)(texts);
  return found;
}

Bool module_function(const HChar *path, const HChar *name, Addr *address, ULong *size) {
  SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
  if (sr_isError(opened))
    return False;
  Int fd = sr_Res(opened);
  Elf64_Ehdr head;
  Bool found = False;
  if (read_at(fd, 0, &head, sizeof head) && head.e_shentsize == sizeof(Elf64_Shdr)) {
    ULong bytes = (ULong)head.e_shnum * sizeof(Elf64_Shdr);
    ULong left = size_of(fd);
    Elf64_Shdr *sections = VG_(malloc)("frontload.sections", bytes + 1);
    if (read_at(fd, head.e_shoff, sections, bytes))
      for (UInt i = 0; i < head.e_shnum && !found; ++i)
        if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
            sections[i].sh_link < head.e_shnum)
          found = find_in_table(fd, &sections[i], &sections[sections[i].sh_link], name, &left,
                                address, size);
    VG_(free)(sections);
  }
  VG_(close)(fd);
  return found;
}
