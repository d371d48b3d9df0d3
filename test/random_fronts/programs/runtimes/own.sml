(* Poly/ML writes its heap, with the code, as an object. *)
exception Own of int
fun deep 0 = raise Own 7 | deep n = 1 + deep (n - 1)
fun main () =
  let
    val l = List.tabulate (300000, fn i => Int.toString i)
    val _ = PolyML.fullGC ()
    val t = Thread.Thread.fork (fn () => (), [])
  in
    print (Int.toString (deep 1000000) handle Own n => "own " ^ Int.toString n ^ "\n");
    print (Int.toString (length l) ^ " " ^ hd (rev l) ^ "\n");
    print (Int.toString (foldl op+ 0 (map size l)) ^ "\n");
    print ((hd [] handle Empty => "empty") ^ "\n")
  end
