(* Stack overflows in the user's code and in the library's, closures that are hashed and marshalled,
   static and moving data under the collector, exceptions across C. *)
let rec deep n = if n = 0 then 0 else 1 + deep (n - 1)
let add x y = x + y
let caught name f = print_endline (match f () with
  | _ -> name ^ ": returned" | exception Stack_overflow -> name ^ ": overflow" | exception Exit -> name ^ ": exit")
let table = [| "static"; "data" |]
let () =
  caught "fold" (fun () -> List.fold_right (+) (List.init 3_000_000 Fun.id) 0);
  let text = Marshal.to_string (add 40, List.map) [Marshal.Closures] in
  let (f, _ : (int -> int) * ((int -> int) -> int list -> int list)) = Marshal.from_string text 0 in
  Printf.printf "%d %b\n" (f 2) (Hashtbl.hash table = Hashtbl.hash [| "static"; "data" |]);
  let kept = ref [] in
  for i = 1 to 200_000 do kept := (string_of_int i, table) :: (if i mod 1001 = 0 then [] else !kept) done;
  Gc.compact ();
  caught "sort" (fun () -> List.sort (fun _ _ -> raise Exit) !kept);
  Printexc.record_backtrace true;
  (try ignore (List.find (( = ) 1) []) with Not_found -> print_endline "not found");
  Printf.printf "%d %s\n" (List.length !kept) (String.concat " " (Array.to_list table));
  caught "deep" (fun () -> deep 200_000_000)
