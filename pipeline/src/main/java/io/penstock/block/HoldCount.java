package io.penstock.block;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// How many need something that goes back when nobody does. Safe from any thread; never waits.
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

  /// The first hold on what nobody holds.
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

  /// Ends a hold; true if it was the last, whose holder gives back what was held.
  public boolean release() {
    return (int) HOLDS.getAndAdd(this, -1) == 1;
  }

  /// True if nobody holds it.
  public boolean isZero() {
    return holds == 0;
  }
}
