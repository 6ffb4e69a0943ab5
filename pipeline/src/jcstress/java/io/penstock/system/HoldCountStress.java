package io.penstock.system;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/// Holds that end, and begin, on two threads at the same moment.
public final class HoldCountStress {
  private HoldCountStress() {}

  /// Two holders end.
  @JCStressTest
  @Outcome(id = {"true, false, true", "false, true, true"}, expect = Expect.ACCEPTABLE,
      desc = "one of them was the last")
  @Outcome(expect = Expect.FORBIDDEN, desc = "both were the last, or neither")
  @State
  public static class TwoReleases {
    private final HoldCount holds = new HoldCount();

    public TwoReleases() {
      holds.first();
      holds.retain();
    }

    @Actor
    public void one(ZZZ_Result r) {
      r.r1 = holds.release();
    }

    @Actor
    public void other(ZZZ_Result r) {
      r.r2 = holds.release();
    }

    @Arbiter
    public void after(ZZZ_Result r) {
      r.r3 = holds.isZero();
    }
  }

  /// A hold begins while the last one ends.
  @JCStressTest
  @Outcome(id = "true, false, false", expect = Expect.ACCEPTABLE, desc = "begun first: it is the last now")
  @Outcome(id = "false, true, true", expect = Expect.ACCEPTABLE, desc = "ended first: refused")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a hold on what was given back")
  @State
  public static class RetainRacesRelease {
    private final HoldCount holds = new HoldCount();

    public RetainRacesRelease() {
      holds.first();
    }

    @Actor
    public void retain(ZZZ_Result r) {
      r.r1 = holds.retain();
    }

    @Actor
    public void release(ZZZ_Result r) {
      r.r2 = holds.release();
    }

    @Arbiter
    public void after(ZZZ_Result r) {
      r.r3 = holds.isZero();
    }
  }
}
