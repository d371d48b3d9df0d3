-- Stack overflow, exceptions, threads, the collector, and constants that it must not move.
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.Map as M
import System.Mem
import System.Mem.Weak

main :: IO ()
main = do
  r <- try (evaluate (foldr (+) 0 [1 .. 100000000 :: Integer])) :: IO (Either AsyncException Integer)
  print r
  print =<< (try (evaluate (M.fromList [(1 :: Int, 'a')] M.! 2)) >>= \e -> case e of
    Left x -> return (takeWhile (/= '\n') (show (x :: SomeException)))
    Right c -> return [c])
  boxes <- forM [1 .. 100 :: Int] $ \i -> do
    box <- newEmptyMVar
    _ <- forkIO (putMVar box $! sum [1 .. i * 100])
    return box
  print . sum =<< mapM takeMVar boxes
  weak <- mkWeakPtr (M.fromList (zip [1 .. 1000 :: Int] ['a' ..])) Nothing
  performGC
  print . maybe 0 M.size =<< deRefWeak weak
  print (length (show (product [1 .. 3000 :: Integer])))
  print =<< (try (evaluate (1 `div` (0 :: Int))) :: IO (Either ArithException Int))
