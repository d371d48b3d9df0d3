! Deferred-length data, polymorphism, formatted and internal files, a common block.
module shapes
  type :: shape
    integer :: n = 1
  contains
    procedure :: area
  end type
  type, extends(shape) :: square
  contains
    procedure :: area => square_area
  end type
contains
  integer function area(this)
    class(shape), intent(in) :: this
    area = this%n
  end function
  integer function square_area(this)
    class(square), intent(in) :: this
    square_area = this%n ** 2
  end function
  recursive integer function fib(n) result(r)
    integer, intent(in) :: n
    r = n
    if (n > 1) r = fib(n - 1) + fib(n - 2)
  end function
end module
program own
  use shapes
  integer :: saved = 7, code
  common /block/ saved_too(1000)
  integer :: saved_too
  class(shape), allocatable :: s
  character(:), allocatable :: text
  character(20) :: line
  real, allocatable :: a(:)
  namelist /names/ saved
  allocate (square :: s)
  s%n = 6
  saved_too = [(i, i = 1, 1000)]
  allocate (a(100000), source=1.0)
  write (line, '(f8.3)') sum(a)
  text = trim(adjustl(line)) // " text"
  print *, s%area(), fib(20), sum(saved_too), text
  write (*, nml=names)
  read (line, *, iostat=code) saved
  print *, code
  if (saved > 0) stop 3
end program
