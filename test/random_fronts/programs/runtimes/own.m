// Classes by name, categories, exceptions, threads, constant strings.
#import <Foundation/Foundation.h>
@interface Own : NSObject
- (id)say:(NSString *)text;
@end
@implementation Own
+ (void)load { puts("load"); }
- (id)say:(NSString *)text { return [text stringByAppendingString:@" said"]; }
- (void)work:(NSConditionLock *)lock { [lock lockWhenCondition:0]; [lock unlockWithCondition:1]; }
@end
@implementation NSString (Own)
- (NSUInteger)own { return [self length] * 2; }
@end
int main(void) {
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  id own = [[NSClassFromString(@"Own") new] autorelease];
  puts([[own performSelector:NSSelectorFromString(@"say:") withObject:@"text"] UTF8String]);
  printf("%d\n", (int)[@"four" own]);
  @try { [own performSelector:NSSelectorFromString(@"nothing")]; }
  @catch (NSException *e) { puts([[e name] UTF8String]); }
  @try { [[NSArray array] objectAtIndex:3]; }
  @catch (NSException *e) { puts([[e name] UTF8String]); } @finally { puts("finally"); }
  NSConditionLock *lock = [[[NSConditionLock alloc] initWithCondition:0] autorelease];
  [NSThread detachNewThreadSelector:@selector(work:) toTarget:own withObject:lock];
  [lock lockWhenCondition:1]; [lock unlock];
  puts([[[NSDictionary dictionaryWithObject:@"v" forKey:@"k"] objectForKey:@"k"] UTF8String]);
  [pool release];
  return 0;
}
