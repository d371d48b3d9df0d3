/* For each access, and for each granule of code in a part of a superblock that is executed as a
 * whole: a test of one byte, and a call of touches.c if the first touch is awaited. */
#include "checks.h"

#include <pub_tool_machine.h>
#include <pub_tool_mallocfree.h>

#include "touches.h"

enum { GRANULE = 1 << GRANULE_SHIFT };

static IRExpr *word(Addr value) { return mkIRExpr_HWord(value); }

static IRExpr *compute(IRSB *out, IRType type, IRExpr *value) {
  IRTemp temp = newIRTemp(out->tyenv, type);
  addStmtToIRSB(out, IRStmt_WrTmp(temp, value));
  return IRExpr_RdTmp(temp);
}

static IRExpr *binary(IRSB *out, IRType type, IROp op, IRExpr *a, IRExpr *b) {
  return compute(out, type, IRExpr_Binop(op, a, b));
}

/* A byte in memory, as a word: Valgrind for AArch64 does not compute with bytes. */
static IRExpr *byte_at(IRSB *out, IRExpr *place) {
  IRExpr *byte = compute(out, Ity_I8, IRExpr_Load(Iend_LE, Ity_I8, place));
  return compute(out, Ity_I64, IRExpr_Unop(Iop_8Uto64, byte));
}

/* Whether a byte has a bit. */
static IRExpr *has_bit(IRSB *out, IRExpr *byte, UChar bit) {
  IRExpr *masked = binary(out, Ity_I64, Iop_And64, byte, word(bit));
  return binary(out, Ity_I1, Iop_CmpNE64, masked, word(0));
}

static void call(IRSB *out, Int num_registers, const HChar *name, void *function,
                 IRExpr **arguments, IRExpr *guard) {
  IRDirty *dirty =
      unsafeIRDirty_0_N(num_registers, name, VG_(fnptr_to_fnentry)(function), arguments);
  if (guard)
    dirty->guard = guard;
  addStmtToIRSB(out, IRStmt_Dirty(dirty));
}

/* The byte of an address or, above the limit, of address 0, where nothing is mapped. */
static IRExpr *byte_of(IRSB *out, IRExpr *address) {
  IRExpr *is_low = binary(out, Ity_I1, Iop_CmpLT64U, address, word(touches_limit()));
  IRExpr *granule =
      binary(out, Ity_I64, Iop_Shr64, address, IRExpr_Const(IRConst_U8(GRANULE_SHIFT)));
  IRExpr *index = compute(out, Ity_I64, IRExpr_ITE(is_low, granule, word(0)));
  IRExpr *place = binary(out, Ity_I64, Iop_Add64, index, word((Addr)touches_bytes()));
  return byte_at(out, place);
}

static void check_data(IRSB *out, IRExpr *address, SizeT size, IRExpr *guard) {
  if (guard) /* an access that is not made counts as one to address 0 */
    address = compute(out, Ity_I64, IRExpr_ITE(guard, address, word(0)));
  for (SizeT done = 0; done < size; done += GRANULE) {
    SizeT part = size - done < (SizeT)GRANULE ? size - done : (SizeT)GRANULE;
    IRExpr *first = done ? binary(out, Ity_I64, Iop_Add64, address, word(done)) : address;
    IRExpr *byte = byte_of(out, first);
    if (part > 1) {
      IRExpr *last = binary(out, Ity_I64, Iop_Add64, first, word(part - 1));
      byte = binary(out, Ity_I64, Iop_Or64, byte, byte_of(out, last));
    }
    call(out, 2, "touches_data", &touches_data, mkIRExprVec_2(first, word(part)),
         has_bit(out, byte, AWAITS_DATA));
  }
}

/* Where instructions begin in a granule: those from statement `first` on that are executed if the
 * first one is, because nothing between them leaves the superblock. */
static UWord starts_in_granule(const IRSB *in, Int first) {
  const Addr granule = in->stmts[first]->Ist.IMark.addr >> GRANULE_SHIFT;
  UWord starts = 0;
  for (Int i = first; i < in->stmts_used; ++i) {
    const IRStmt *s = in->stmts[i];
    if (s && s->tag == Ist_Exit)
      break;
    if (!s || s->tag != Ist_IMark)
      continue;
    const Addr address = s->Ist.IMark.addr;
    if (address >> GRANULE_SHIFT != granule)
      break;
    starts |= (UWord)1 << (address & (GRANULE - 1));
  }
  return starts;
}

static void check_code(IRSB *out, Addr granule, UWord starts) {
  UChar awaited = 0;
  for (UInt i = 0; i < GRANULE; ++i)
    if (starts >> i & 1)
      awaited |= AWAITS_FIRST_PART << (i >> PART_SHIFT);
  IRExpr *byte = byte_at(out, word((Addr)touches_bytes() + granule));
  call(out, 2, "touches_code", &touches_code, mkIRExprVec_2(word(granule), word(starts)),
       has_bit(out, byte, awaited));
}

static SizeT size_of(const IRSB *sb, IRExpr *value) {
  return sizeofIRType(typeOfIRExpr(sb->tyenv, value));
}

/* Checks the reads and writes of a statement. */
static void check_accesses(IRSB *out, const IRStmt *s) {
  switch (s->tag) {
  case Ist_WrTmp:
    if (s->Ist.WrTmp.data->tag == Iex_Load)
      check_data(out, s->Ist.WrTmp.data->Iex.Load.addr,
                 sizeofIRType(s->Ist.WrTmp.data->Iex.Load.ty), NULL);
    break;
  case Ist_Store:
    check_data(out, s->Ist.Store.addr, size_of(out, s->Ist.Store.data), NULL);
    break;
  case Ist_StoreG: {
    const IRStoreG *store = s->Ist.StoreG.details;
    check_data(out, store->addr, size_of(out, store->data), store->guard);
    break;
  }
  case Ist_LoadG: {
    const IRLoadG *load = s->Ist.LoadG.details;
    IRType type, ignored;
    typeOfIRLoadGOp(load->cvt, &ignored, &type);
    check_data(out, load->addr, sizeofIRType(type), load->guard);
    break;
  }
  case Ist_CAS: {
    const IRCAS *cas = s->Ist.CAS.details;
    check_data(out, cas->addr, size_of(out, cas->dataLo) * (cas->dataHi ? 2 : 1), NULL);
    break;
  }
  case Ist_LLSC: {
    IRExpr *stored = s->Ist.LLSC.storedata;
    SizeT size = stored ? size_of(out, stored)
                        : (SizeT)sizeofIRType(typeOfIRTemp(out->tyenv, s->Ist.LLSC.result));
    check_data(out, s->Ist.LLSC.addr, size, NULL);
    break;
  }
  case Ist_Dirty: {
    const IRDirty *dirty = s->Ist.Dirty.details;
    if (dirty->mFx != Ifx_None)
      check_data(out, dirty->mAddr, dirty->mSize, dirty->guard);
    break;
  }
  default:
    break;
  }
}

/* Whether a statement makes an address in the stack: the stack pointer, or another such address,
 * plus or minus a constant. No module is in the stack, and every third access is. */
static Bool makes_stack_address(const IRStmt *s, const VexGuestLayout *layout,
                                const Bool *is_stack) {
  if (s->tag != Ist_WrTmp)
    return False;
  const IRExpr *e = s->Ist.WrTmp.data;
  if (e->tag == Iex_Get)
    return e->Iex.Get.offset == layout->offset_SP;
  if (e->tag == Iex_RdTmp)
    return is_stack[e->Iex.RdTmp.tmp];
  return e->tag == Iex_Binop && (e->Iex.Binop.op == Iop_Add64 || e->Iex.Binop.op == Iop_Sub64) &&
         e->Iex.Binop.arg1->tag == Iex_RdTmp && is_stack[e->Iex.Binop.arg1->Iex.RdTmp.tmp] &&
         e->Iex.Binop.arg2->tag == Iex_Const;
}

static Bool uses_stack(const IRStmt *s, const Bool *is_stack) {
  const IRExpr *address = NULL;
  if (s->tag == Ist_Store)
    address = s->Ist.Store.addr;
  else if (s->tag == Ist_WrTmp && s->Ist.WrTmp.data->tag == Iex_Load)
    address = s->Ist.WrTmp.data->Iex.Load.addr;
  return address && address->tag == Iex_RdTmp && is_stack[address->Iex.RdTmp.tmp];
}

IRSB *add_checks(const IRSB *in, const VexGuestLayout *layout, CodeKind (*kind_of)(Addr address)) {
  IRSB *out = deepCopyIRSBExceptStmts(in);
  /* Temporaries that were there before ours. */
  Bool *is_stack = VG_(calloc)("frontload.stack", in->tyenv->types_used + 1, sizeof *is_stack);
  CodeKind kind = {False, False, False};
  Addr granule = ~(Addr)0;
  for (Int i = 0; i < in->stmts_used; ++i) {
    IRStmt *s = in->stmts[i];
    if (!s || s->tag == Ist_NoOp)
      continue;
    if (s->tag == Ist_IMark) {
      Addr address = s->Ist.IMark.addr;
      kind = kind_of(address);
      addStmtToIRSB(out, s);
      if (kind.is_end)
        call(out, 0, "touches_end", &touches_end, mkIRExprVec_0(), NULL);
      if (kind.is_recorded && address >> GRANULE_SHIFT != granule) {
        granule = address >> GRANULE_SHIFT;
        check_code(out, granule, starts_in_granule(in, i));
      }
      continue;
    }
    if (s->tag == Ist_Exit)
      granule = ~(Addr)0; /* what follows need not be executed */
    if (makes_stack_address(s, layout, is_stack))
      is_stack[s->Ist.WrTmp.tmp] = True;
    /* Before the access, which may end the program. */
    if (!kind.is_loader && !uses_stack(s, is_stack))
      check_accesses(out, s);
    addStmtToIRSB(out, s);
  }
  VG_(free)(is_stack);
  return out;
}
