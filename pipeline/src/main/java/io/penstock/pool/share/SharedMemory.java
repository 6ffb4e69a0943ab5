package io.penstock.pool.share;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.SlabArena.ArenaClosedException;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.SlabPart;
import io.penstock.pool.share.RegionAllocator.Region;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// Host memory that the stacks of several spaces share by weight, within a quota each.
///
/// A stack that is full takes free memory, also beyond its share, up to its quota. A stack below its share gets memory
/// of the stack that is most above its share: one run of slots at a time, whose blocks that stack evicts. No stack
/// falls below its share that way. A stack that can get no memory evicts its own blocks. Safe from any thread.
///
/// A run has slots for a 256th of the memory, for one block at least, and for fewer blocks where only a shorter region
/// is free. So blocks of any size use every free region that is as long as a block.
public final class SharedMemory implements AutoCloseable {
  /// Part of the memory that may be on its way back, its blocks being read or copied to a disk, while more is taken.
  private static final int COMING_PART = 16;
  /// Maximum number of runs that one request for memory retires.
  private static final int MOST_RETIRED = 16;
  /// Maximum number of runs that are examined to find one without a block in use.
  private static final int MOST_TRIED = 64;

  private static final int RUNS = 256;
  private static final long MOST_RUN_BYTES = 32L << 20;

  private final long runBytes;
  @GuardedBy("this") private final MemoryRegions regions;
  @GuardedBy("this") private final SpaceShares<Share> shares;
  @GuardedBy("this") private final List<Share> members = new ArrayList<>();
  @GuardedBy("this") private long comingBytes;
  private final AtomicBoolean taking = new AtomicBoolean();

  /// @param name named in errors
  /// @param chunks closed with this memory
  public SharedMemory(String name, long totalBytes, ChunkSource chunks) {
    this.regions = new MemoryRegions(name, totalBytes, chunks);
    this.runBytes = Math.clamp(totalBytes / RUNS, 1, MOST_RUN_BYTES);
    this.shares = new SpaceShares<>(totalBytes);
  }

  /// A share for one stack. A share that is made while others are used takes its guarantee from theirs.
  ///
  /// @param space named in errors
  /// @param quotaBytes most bytes that it takes of this memory; `Long.MAX_VALUE` for no quota
  public synchronized Share share(String space, double weight, long quotaBytes) {
    Share share = new Share(this, space);
    shares.add(share, weight, quotaBytes);
    members.add(share);
    return share;
  }

  public synchronized long totalBytes() {
    return regions.totalBytes();
  }

  /// Bytes that no space has.
  public synchronized long freeBytes() {
    return regions.freeBytes();
  }

  /// Length of the longest free region.
  public synchronized long largestFreeBytes() {
    return regions.largestFreeBytes();
  }

  /// Frees the memory when the last stack has closed.
  @Override
  public synchronized void close() {
    regions.close();
  }

  /// Gives `taker` one run, from other stacks if need be. False if it can have none, or none yet.
  private boolean grow(Share taker, Member stack) {
    return lend(taker, stack) || (taking.compareAndSet(false, true) && growFromOthers(taker, stack));
  }

  private boolean growFromOthers(Share taker, Member stack) {
    try {
      boolean lent = false;
      for (int i = 0; i < MOST_RETIRED && !lent && retireOne(taker, stack.slots().strideBytes()); i++) {
        lent = lend(taker, stack);
      }
      return lent;
    } finally {
      taking.set(false);
    }
  }

  private boolean lend(Share taker, Member stack) {
    Loan loan = loan(taker, stack.slots().strideBytes());
    if (loan == null) {
      return false;
    }
    try {
      loan.run = stack.grow(loan.memory, () -> returned(loan));
      return true;
    } catch (ArenaClosedException e) { // the stack closes
      returned(loan);
      return false;
    } catch (RuntimeException | Error e) {
      if (loan.run == null) {
        returned(loan);
      }
      throw e;
    }
  }

  private synchronized @Nullable Loan loan(Share taker, int stride) {
    long allowed = shares.mayTake(taker) / RegionAllocator.ALIGNMENT_BYTES * RegionAllocator.ALIGNMENT_BYTES;
    long most = Math.min(allowed, Math.max(runBytes, stride));
    if (most < stride) {
      return null;
    }
    Region region = regions.allocate(bytesOfSlots(most, stride));
    if (region == null) {
      region = regions.allocate(bytesOfSlots(Math.min(most, regions.largestFreeBytes()), stride));
    }
    return region == null ? null : loan(taker, region);
  }

  /// Bytes of the slots that fit in `bytes`, at least one.
  private static long bytesOfSlots(long bytes, int stride) {
    return Math.max(1, bytes / stride) * stride;
  }

  @GuardedBy("this") private Loan loan(Share taker, Region region) {
    try {
      Loan loan = new Loan(taker, region, regions.memory(region));
      taker.loans.add(loan);
      shares.hold(taker, region.bytes());
      return loan;
    } catch (RuntimeException | Error e) {
      regions.free(region);
      throw e;
    }
  }

  private synchronized void returned(Loan loan) {
    if (loan.taker.retired.remove(loan)) {
      comingBytes -= loan.region.bytes();
    } else if (loan.taker.loans.remove(loan)) { // its stack has closed
      shares.hold(loan.taker, -loan.region.bytes());
    }
    regions.free(loan.region);
  }

  /// Makes a stack above its share retire a run: the stack that is furthest above it, or the next if blocks in use keep
  /// all of its runs. False if `taker` has its share, or no stack can give.
  private boolean retireOne(Share taker, long neededBytes) {
    List<List<Candidate>> givers = givers(taker, neededBytes);
    if (!givers.isEmpty()) {
      clearRetired();
    }
    for (List<Candidate> candidates : givers) {
      Loan chosen = candidates.stream().sorted(Candidate.CHEAPEST_FIRST).limit(MOST_TRIED).map(Candidate::loan)
          .filter(loan -> loan.stack().canLeave(loan.run())).findFirst().orElse(null);
      if (chosen != null) {
        if (retire(chosen)) {
          chosen.stack().giveUp(chosen.run());
        }
        return true;
      }
    }
    return false;
  }

  /// The runs that stacks above their share could give, for each stack; none if `taker` has its share. While much is on
  /// its way back already, the stacks have none.
  private synchronized List<List<Candidate>> givers(Share taker, long neededBytes) {
    if (shares.mayDemand(taker) < neededBytes) {
      return List.of();
    }
    boolean comes = comingBytes > neededBytes + regions.totalBytes() / COMING_PART;
    List<List<Candidate>> givers = new ArrayList<>();
    for (Share giver : shares.aboveShare()) {
      if (!giver.equals(taker)) {
        givers.add(comes ? List.of() : candidates(giver, neededBytes));
      }
    }
    return givers;
  }

  /// The runs of `giver` that are not more than it has above its share.
  @GuardedBy("this") private List<Candidate> candidates(Share giver, long neededBytes) {
    long most = shares.aboveShare(giver);
    List<Candidate> candidates = new ArrayList<>();
    for (Loan loan : giver.loans) {
      if (loan.isInUse() && loan.region.bytes() <= most) {
        long room = Math.min(regions.bytesAround(loan.region), neededBytes);
        candidates.add(new Candidate(loan, room, loan.run().lentSlots()));
      }
    }
    return candidates;
  }

  /// A run that may be retired. Runs that, with the free memory beside them, have room for the block that needs it come
  /// before the others; of these, those with the fewest blocks to evict; of the others, those with the most room.
  private record Candidate(Loan loan, long room, int lentSlots) {
    static final Comparator<Candidate> CHEAPEST_FIRST =
        Comparator.comparingLong((Candidate each) -> -each.room).thenComparingInt(Candidate::lentSlots);
  }

  private synchronized boolean retire(Loan loan) {
    if (!loan.taker.loans.remove(loan)) { // its stack has closed
      return false;
    }
    loan.taker.retired.add(loan);
    shares.hold(loan.taker, -loan.region.bytes());
    comingBytes += loan.region.bytes();
    return true;
  }

  /// Makes the stacks evict blocks that were still written or read when their run was retired.
  private void clearRetired() {
    List<Runnable> clears = new ArrayList<>();
    synchronized (this) {
      for (Share share : members) {
        Member stack = share.member;
        if (stack != null) {
          share.retired.forEach(loan -> clears.add(() -> stack.clear(loan.run())));
        }
      }
    }
    clears.forEach(Runnable::run);
  }

  /// One run of slots of one stack.
  private static final class Loan {
    final Share taker;
    final Region region;
    final MemorySegment memory;
    volatile SlabPart.@Nullable Run run;

    Loan(Share taker, Region region, MemorySegment memory) {
      this.taker = taker;
      this.region = region;
      this.memory = memory;
    }

    boolean isInUse() {
      return run != null;
    }

    Member stack() {
      return requireNonNull(taker.member, "a stack that holds memory");
    }

    SlabPart.Run run() {
      return requireNonNull(run, "run");
    }
  }

  /// A stack that uses a share.
  public interface Member {
    /// The part of its memory that borrows runs.
    SlabPart slots();

    /// Borrows `memory` for its slots, and uses them from now on. If this throws, it does not use them.
    ///
    /// @param returned as [SlabPart#borrow] takes it
    /// @throws ArenaClosedException if the stack was closed
    SlabPart.Run grow(MemorySegment memory, Runnable returned);

    /// Whether no block of `run` is in use.
    boolean canLeave(SlabPart.Run run);

    /// Evicts the blocks of `run`, which the stack then uses no more.
    void giveUp(SlabPart.Run run);

    /// Evicts the blocks that are left in `run`, which was given up, and that are not in use.
    void clear(SlabPart.Run run);
  }

  /// The part of a [SharedMemory] that one stack may use.
  public static final class Share {
    private final SharedMemory memory;
    private final String space;
    private volatile @Nullable Member member;
    /// Guarded by the memory.
    private final Set<Loan> loans = new LinkedHashSet<>();
    private final Set<Loan> retired = new LinkedHashSet<>();

    private Share(SharedMemory memory, String space) {
      this.memory = memory;
      this.space = space;
    }

    /// @throws IllegalStateException if another stack uses this share
    public void attach(Member stack) {
      synchronized (memory) {
        if (member != null) {
          throw new IllegalStateException("share of " + space + " must be used by one stack (was used by another)");
        }
        member = stack;
      }
    }

    /// Takes one run more. False if there is none, or none yet.
    public boolean grow() {
      return memory.grow(this, requireNonNull(member, "a stack uses the share"));
    }

    /// Bytes that no other space takes from this one.
    public long guaranteedBytes() {
      synchronized (memory) {
        return memory.shares.share(this);
      }
    }

    /// Maximum bytes of the space: its quota, or all of the memory.
    public long mostBytes() {
      synchronized (memory) {
        return Math.min(memory.shares.quota(this), memory.regions.totalBytes());
      }
    }

    /// Bytes that the space has now.
    public long heldBytes() {
      synchronized (memory) {
        return memory.shares.held(this);
      }
    }
  }
}
