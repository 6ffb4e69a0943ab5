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

/// The ends of a draft, and of its arena, on two threads at the same moment.
public final class BlockDraftStress {
  private BlockDraftStress() {}

  /// A draft is sealed while another thread abandons it.
  @JCStressTest
  @Outcome(id = "7, 1, 0", expect = Expect.ACCEPTABLE, desc = "sealed: the block holds the slot")
  @Outcome(id = "-1, 0, 0", expect = Expect.ACCEPTABLE, desc = "abandoned: the slot is free")
  @Outcome(expect = Expect.FORBIDDEN, desc = "both, or neither")
  @State
  public static class SealRacesClose {
    private final StressArena memory = new StressArena(1);
    private final BlockDraft draft = memory.written(7);
    private @Nullable Block block;

    @Actor
    public void seal() {
      try {
        block = draft.seal();
      } catch (IllegalStateException closed) {
        block = null;
      }
    }

    @Actor
    public void close() {
      draft.close();
    }

    @Arbiter
    public void after(III_Result r) {
      r.r1 = block == null ? -1 : block.read(StressArena::value);
      r.r2 = memory.claimed();
      if (block != null) {
        block.close();
      }
      r.r3 = memory.claimed();
    }
  }

  /// Two threads seal one draft.
  @JCStressTest
  @Outcome(id = {"1, 0", "0, 1"}, expect = Expect.ACCEPTABLE, desc = "one of them has the block")
  @Outcome(expect = Expect.FORBIDDEN, desc = "both, or neither")
  @State
  public static class DoubleSeal {
    private final StressArena memory = new StressArena(1);
    private final BlockDraft draft = memory.written(7);

    @Actor
    public void one(II_Result r) {
      r.r1 = seal();
    }

    @Actor
    public void other(II_Result r) {
      r.r2 = seal();
    }

    private int seal() {
      try {
        return draft.seal().isClosed() ? -1 : 1;
      } catch (IllegalStateException sealed) {
        return 0;
      }
    }
  }

  /// A writer fills the draft while it is abandoned, and the next owner of the slot writes other bytes.
  @JCStressTest
  @Outcome(id = {"1, 9, 9", "1, 0, 0"}, expect = Expect.ACCEPTABLE,
      desc = "written before; the next owner's bytes stay")
  @Outcome(id = {"0, 9, 9", "0, 0, 0"}, expect = Expect.ACCEPTABLE, desc = "refused; the next owner's bytes stay")
  @Outcome(expect = Expect.FORBIDDEN, desc = "the writer wrote into the next owner's slot")
  @State
  public static class WriteRacesClose {
    private final StressArena memory = new StressArena(1);
    private final BlockDraft draft;
    private @Nullable Block next;

    public WriteRacesClose() {
      BlockDraft claimed = memory.claim();
      if (claimed == null) {
        throw new IllegalStateException("slots free must be > 0 (was 0)");
      }
      draft = claimed;
    }

    @Actor
    public void write(III_Result r) {
      try {
        StressArena.write(draft, 7);
        r.r1 = 1;
      } catch (IllegalStateException closed) {
        r.r1 = 0;
      }
    }

    @Actor
    public void closeAndWriteAgain(III_Result r) {
      draft.close();
      BlockDraft claimed = memory.claim();
      if (claimed != null) {
        StressArena.write(claimed, 9);
        claimed.produced(StressArena.ALL);
        next = claimed.seal();
        r.r2 = next.read(StressArena::value);
      }
    }

    @Arbiter
    public void after(III_Result r) {
      r.r3 = next == null ? memory.claimed() : next.verify("stress").read(StressArena::value);
    }
  }

  /// A draft is claimed while the arena closes.
  @JCStressTest
  @Outcome(id = "1, 0, 1", expect = Expect.ACCEPTABLE, desc = "lent first: the memory stays until the draft closes")
  @Outcome(id = "0, 1, 1", expect = Expect.ACCEPTABLE, desc = "closed first: refused, and the memory is free")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a draft without memory, or memory that stays")
  @State
  public static class ClaimRacesCloseOfArena {
    private final StressArena memory = new StressArena(1);
    private @Nullable BlockDraft draft;

    @Actor
    public void claim(III_Result r) {
      try {
        draft = memory.claim();
        r.r1 = draft == null ? -1 : 1;
      } catch (SlabArena.ArenaClosedException closed) {
        r.r1 = 0;
      }
    }

    @Actor
    public void close() {
      memory.arena.close();
    }

    @Arbiter
    public void after(III_Result r) {
      r.r2 = memory.isFreed ? 1 : 0;
      if (draft != null) {
        StressArena.write(draft, 7);
        draft.close();
      }
      r.r3 = memory.isFreed ? 1 : 0;
    }
  }

  /// The last draft closes while the arena closes.
  @JCStressTest
  @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "the later of the two gave the memory back")
  @Outcome(expect = Expect.FORBIDDEN, desc = "memory that stays")
  @State
  public static class CloseRacesCloseOfArena {
    private final StressArena memory = new StressArena(1);
    private final BlockDraft draft = memory.written(7);

    @Actor
    public void closeDraft() {
      draft.close();
    }

    @Actor
    public void closeArena() {
      memory.arena.close();
    }

    @Arbiter
    public void after(II_Result r) {
      r.r1 = memory.isFreed ? 1 : 0;
      r.r2 = memory.claimed();
    }
  }
}
