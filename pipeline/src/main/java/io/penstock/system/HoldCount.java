package io.penstock.system;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// Counts the holders of something that is given back with the last of them. Safe from any thread; never waits.
public final class HoldCount {
  private static final VarHandle HOLDS;

  static {
    try {
      HOLDS = MethodHandles.lookup().findVarHandle(HoldCount.class, "holds", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile int holds;

  /// The first hold.
  public void first() {
    HOLDS.setRelease(this, 1);
  }

  /// Adds a hold, unless the last one has ended.
  public boolean retain() {
    int count;
    do {
      count = holds;
      if (count == 0) {
        return false;
      }
    } while (!HOLDS.compareAndSet(this, count, count + 1));
    return true;
  }

  /// Ends a hold. Returns true if it was the last; its holder then gives the thing back.
  public boolean release() {
    return (int) HOLDS.getAndAdd(this, -1) == 1;
  }

  /// True with more than one holder.
  public boolean isShared() {
    return holds > 1;
  }

  /// True without a holder.
  public boolean isZero() {
    return holds == 0;
  }
}
