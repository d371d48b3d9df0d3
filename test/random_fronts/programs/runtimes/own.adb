--  Tasks, exceptions with tracebacks, storage errors, finalization.
with Ada.Text_IO; use Ada.Text_IO;
with Ada.Exceptions; use Ada.Exceptions;
with Ada.Finalization;
procedure Own is
   type Ended is new Ada.Finalization.Controlled with null record;
   overriding procedure Finalize (E : in out Ended) is
   begin Put_Line ("finalized"); end Finalize;
   protected Total is
      procedure Add (N : Integer);
      function Get return Integer;
   private
      Sum : Integer := 0;
   end Total;
   protected body Total is
      procedure Add (N : Integer) is begin Sum := Sum + N; end Add;
      function Get return Integer is (Sum);
   end Total;
   task type Worker is entry Go (N : Integer); end Worker;
   task body Worker is
      Mine : Integer;
   begin
      accept Go (N : Integer) do Mine := N; end Go;
      Total.Add (Mine);
   end Worker;
   function Deep (N : Integer) return Integer is
      Room : array (1 .. 1000) of Integer := (others => N);
   begin
      return (if N = 0 then 0 else Deep (N - 1) + Room (1 + N mod 1000));
   end Deep;
begin
   declare
      Workers : array (1 .. 5) of Worker;
      E : Ended;
   begin
      for I in Workers'Range loop Workers (I).Go (I); end loop;
   end;
   Put_Line (Integer'Image (Total.Get));
   begin
      Put_Line (Integer'Image (Deep (10_000_000)));
   exception
      when E : Storage_Error => Put_Line (Exception_Name (E));
   end;
   begin
      Put_Line (Integer'Image (Integer'Value ("x")));
   exception
      when E : Constraint_Error => Put_Line (Exception_Name (E));
   end;
end Own;
