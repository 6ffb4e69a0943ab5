package io.penstock.block;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/// The ends of handles on a block, on two threads at the same moment: each slot comes back once, and no byte is read
/// after it.
public final class BlockStress {
  private BlockStress() {}

  /// Two threads close one handle.
  @JCStressTest
  @Outcome(id = "0, 2", expect = Expect.ACCEPTABLE, desc = "freed once: both slots can be claimed, and no third")
  @Outcome(expect = Expect.FORBIDDEN, desc = "freed twice, or not at all")
  @State
  public static class DoubleClose {
    private final StressArena memory = new StressArena(2);
    private final Block block = memory.written(7).seal();

    @Actor
    public void one() {
      block.close();
    }

    @Actor
    public void other() {
      block.close();
    }

    @Arbiter
    public void after(II_Result r) {
      r.r1 = memory.claimed();
      while (r.r2 < 4 && memory.claim() != null) {
        r.r2++;
      }
    }
  }

  /// Two owners close their handles.
  @JCStressTest
  @Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "the last of the two freed the slot")
  @Outcome(expect = Expect.FORBIDDEN, desc = "freed twice, or not at all")
  @State
  public static class CloseOfTwoHandles {
    private final StressArena memory = new StressArena(1);
    private final Block block = memory.written(7).seal();
    private final Block share = block.share();

    @Actor
    public void one() {
      block.close();
    }

    @Actor
    public void other() {
      share.close();
    }

    @Arbiter
    public void after(I_Result r) {
      r.r1 = memory.claimed();
    }
  }

  /// A second handle is taken while the first closes.
  @JCStressTest
  @Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "shared first: the share holds the slot")
  @Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "closed first: no share")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a share without a slot, or a slot without a handle")
  @State
  public static class ShareRacesClose {
    private final StressArena memory = new StressArena(1);
    private final Block block = memory.written(7).seal();
    private @Nullable Block share;

    @Actor
    public void share(III_Result r) {
      try {
        share = block.share();
        r.r1 = 1;
      } catch (IllegalStateException closed) {
        r.r1 = 0;
      }
    }

    @Actor
    public void close() {
      block.close();
    }

    @Arbiter
    public void after(III_Result r) {
      r.r2 = memory.claimed();
      if (share != null) {
        share.close();
      }
      r.r3 = memory.claimed();
    }
  }

  /// A reader borrows the bytes while the handle closes, and the next owner of the slot writes other bytes.
  @JCStressTest
  @Outcome(id = "7, 0, 0", expect = Expect.ACCEPTABLE, desc = "read, and the pin kept the slot from the next owner")
  @Outcome(id = "7, 1, 0", expect = Expect.ACCEPTABLE, desc = "read before the next owner")
  @Outcome(id = "-1, 0, 0", expect = Expect.ACCEPTABLE, desc = "closed, and the refused reader held the slot shortly")
  @Outcome(id = "-1, 1, 0", expect = Expect.ACCEPTABLE, desc = "closed before the read")
  @Outcome(expect = Expect.FORBIDDEN, desc = "bytes of the next owner, or a lost slot")
  @State
  public static class ReadRacesClose {
    private final StressArena memory = new StressArena(1);
    private final Block block = memory.written(7).seal();

    @Actor
    public void read(III_Result r) {
      try {
        r.r1 = block.read(StressArena::value);
      } catch (IllegalStateException closed) {
        r.r1 = -1;
      }
    }

    @Actor
    public void closeAndWriteAgain(III_Result r) {
      block.close();
      BlockDraft next = memory.claim();
      if (next != null) {
        StressArena.write(next, 9);
        next.close();
        r.r2 = 1;
      }
    }

    @Arbiter
    public void after(III_Result r) {
      r.r3 = memory.claimed();
    }
  }

  /// The slot of a block is charged to another part while the block closes.
  @JCStressTest
  @Outcome(id = {"1, 0, 2", "0, 0, 2"}, expect = Expect.ACCEPTABLE, desc = "charged or refused: both parts are free")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a part lost a slot, or has one too many")
  @State
  public static class ChargeRacesClose {
    private final StressArena memory = new StressArena(2);
    private final SlabPart part = memory.arena.part("part", 1, 1);
    private final Block block = memory.written(7).seal();

    @Actor
    public void charge(III_Result r) {
      try {
        r.r1 = part.tryAdopt(block) ? 1 : 0;
      } catch (IllegalStateException closed) {
        r.r1 = 0;
      }
    }

    @Actor
    public void close() {
      block.close();
    }

    @Arbiter
    public void after(III_Result r) {
      r.r2 = memory.claimed();
      r.r3 = (memory.claim() != null ? 1 : 0) + (part.tryHold(1) != null ? 1 : 0)
          + (memory.claim() != null || part.tryHold(1) != null ? 10 : 0);
    }
  }

  /// A scope takes a block over while the scope closes.
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "the scope closed the block")
  @Outcome(expect = Expect.FORBIDDEN, desc = "the block was forgotten")
  @State
  public static class AdoptRacesCloseOfScope {
    private final StressArena memory = new StressArena(1);
    private final Block block = memory.written(7).seal();
    private final BlockScope scope = new BlockScope();

    @Actor
    public void adopt() {
      scope.adopt(block);
    }

    @Actor
    public void close() {
      scope.close();
    }

    @Arbiter
    public void after(II_Result r) {
      r.r1 = memory.claimed();
      r.r2 = scope.open();
    }
  }
}
