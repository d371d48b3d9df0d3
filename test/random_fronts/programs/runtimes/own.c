// LuaJIT, linked statically: its interpreter's code, its JIT, and errors through both.
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>

static int fails(lua_State *L) { return luaL_error(L, "from C"); }

int main(void) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_register(L, "fails", fails);
  int code = luaL_dostring(L,
    "local s = 0; for i = 1, 5e6 do s = s + i % 7 end; print(s)\n"
    "print(pcall(fails)); print(pcall(function() return nil + 1 end))\n"
    "local function deep(n) return 1 + deep(n + 1) end; print(select('#', pcall(deep, 1)))\n"
    "local t = {}; for i = 1, 2e5 do t[i % 1000] = { i } end; collectgarbage(); print(#t)\n"
    "local ffi = require 'ffi'; ffi.cdef 'int abs(int);'; print(ffi.C.abs(-3))\n"
    "local co = coroutine.wrap(function(a) local b = coroutine.yield(a + 1); error('in ' .. b) end)\n"
    "print(co(1)); print(pcall(co, 'coroutine')); print(jit.status())");
  if (code)
    puts(lua_tostring(L, -1));
  lua_close(L);
  return code;
}
