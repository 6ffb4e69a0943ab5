package io.penstock.block;

import static java.util.Objects.requireNonNull;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import io.penstock.budget.Permits;
import io.penstock.system.NativeMemory;
import io.penstock.system.SystemCallException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Host memory cut into equal slots of one block each. Claim and free are O(1), and memory does not fragment.
///
/// Memory is allocated in chunks of at most 1 GiB as the high-water mark grows and is kept until [#close()]. Slots
/// start at a multiple of 64 bytes (a cache line). By default the system maps the chunks, and makes a page when it is
/// first touched. The claim that needs a chunk pays for the mapping, unless [#prepare(long)] paid before.
public final class SlabArena implements BlockArena, AutoCloseable {
  /// Maximum bytes of a chunk: `asByteBuffer()` ends below 2 GiB.
  public static final long MAX_CHUNK_BYTES = 1L << 30;
  /// Length of a chunk, unless a block is longer: where the JDK zeroes it, a claim waits some 10 ms, not a second.
  private static final long CHUNK_BYTES = 32L << 20;
  static final int ALIGNMENT_BYTES = 64;

  private final BlockLayout layout;
  private final int strideBytes;
  private final int slotsPerChunk;
  private final SlabPart whole;
  private final long capacitySlots;
  private final ChunkSource chunks;
  private final SlotReturns returns;

  /// Guarded by `this`: the parts, the free slots as a stack, and how many slots there are, in chunks of the arena's
  /// own and in all.
  private final List<SlabPart> parts = new ArrayList<>(0);
  private int highWater;
  private Slot[] free = new Slot[64];
  private int freeCount;
  private int ownSlots;
  /// Runs on loan, and the free slots of those that are retired.
  private final List<SlabPart.Run> runs = new ArrayList<>(0);
  private final ArrayDeque<Slot> spare = new ArrayDeque<>(0);
  private int slots;
  /// Slots made so far, which numbers the next one.
  private int numbered;
  private boolean closed;
  private boolean freed;
  /// Whether memory may have to be freed when a slot comes back: the arena was closed, or has a retired run. Written
  /// under the lock.
  private volatile boolean frees;

  /// @param name named in errors
  /// @param layout of the blocks
  /// @param capacitySlots most slots; memory is allocated when a slot is first used
  /// @param maxWaiters most claims that wait
  public SlabArena(String name, BlockLayout layout, int capacitySlots, int maxWaiters) {
    this(name, layout, capacitySlots, maxWaiters, ChunkSource.ofSystem());
  }

  /// An arena on memory of another kind.
  ///
  /// @param chunks closed with this arena
  public SlabArena(String name, BlockLayout layout, int capacitySlots, int maxWaiters, ChunkSource chunks) {
    this(name, layout, capacitySlots, maxWaiters, chunks, SlotReturns.now());
  }

  /// An arena whose slots come back through `returns`.
  public SlabArena(String name, BlockLayout layout, int capacitySlots, int maxWaiters, ChunkSource chunks,
      SlotReturns returns) {
    this.returns = requireNonNull(returns, "returns");
    this.chunks = requireNonNull(chunks, "chunks");
    this.layout = requireNonNull(layout, "layout");
    this.capacitySlots = capacitySlots;
    this.whole = new SlabPart(this, "arena " + name, capacitySlots, maxWaiters);
    this.strideBytes = Math.ceilDiv(layout.blockBytes(), ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
    this.slotsPerChunk = (int) Math.min(capacitySlots, Math.max(1, CHUNK_BYTES / strideBytes));
  }

  @Override
  public BlockLayout layout() {
    return layout;
  }

  @Override
  public @Nullable List<BlockDraft> tryClaim(List<BlockKey> keys) {
    return whole.tryClaim(keys);
  }

  @Override
  public Permits.Ticket claim(List<BlockKey> keys, Consumer<List<BlockDraft>> granted,
      Consumer<? super Throwable> failed) {
    return whole.claim(keys, granted, failed);
  }

  @Override
  public @Nullable HeldSlots tryHold(int count) {
    return whole.tryHold(count);
  }

  @Override
  public Permits.Ticket hold(int count, Consumer<HeldSlots> granted, Consumer<? super Throwable> failed) {
    return whole.hold(count, granted, failed);
  }

  /// A part of the slots for one use. Slots not given to parts remain for claims on the arena itself.
  ///
  /// @param name named in errors
  /// @throws IllegalStateException if fewer than `count` slots are free
  public synchronized SlabPart part(String name, int count, int maxWaiters) {
    requireOpen();
    if (!whole.permits().tryAcquire(count)) {
      throw new IllegalStateException("slots of " + name + " must be free in " + whole.name() + " (was " + count + ")");
    }
    SlabPart part = new SlabPart(this, name, count, maxWaiters);
    parts.add(part);
    return part;
  }

  @Override
  public synchronized long claimedSlots() {
    long claimed = whole.claimedSlots();
    for (SlabPart part : parts) {
      claimed += part.claimedBeyondGiven();
    }
    return claimed;
  }

  @Override
  public synchronized long highWaterSlots() {
    return parts.isEmpty() ? whole.highWaterSlots() : highWater;
  }

  @Override
  public synchronized long capacitySlots() {
    return capacitySlots + slots - ownSlots;
  }

  /// Bytes of all slots that are the arena's own.
  public long capacityBytes() {
    return capacitySlots * strideBytes;
  }

  /// Bytes of a chunk; the last chunk may be shorter.
  public long chunkBytes() {
    return (long) slotsPerChunk * strideBytes;
  }

  /// Bytes of the slots that exist so far.
  public synchronized long allocatedBytes() {
    return (long) slots * strideBytes;
  }

  /// Allocates memory until `wanted` slots of its own exist, or all of them.
  ///
  /// @throws MemoryExhaustedException if the system has no more; what was allocated so far stays
  public synchronized void prepare(long wanted) {
    requireOpen();
    while (ownSlots < Math.min(wanted, capacitySlots)) {
      grow();
    }
  }

  /// Frees the memory: now if no slot is lent, else when the last slot comes back. Waiting and later claims fail with
  /// [ArenaClosedException].
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      frees = true;
    }
    whole.close();
    parts.forEach(SlabPart::close);
    freeMemoryIfIdle();
  }

  /// *arena client: 3 of 128 slots lent, memory of 16 allocated*.
  @Override
  public synchronized String toString() {
    return "%s: %d of %d slots lent, memory of %d allocated%s".formatted(whole.name(), claimedSlots(), capacitySlots(),
        slots, closed ? ", closed" : "");
  }

  /// Takes a slot back, whose last hold is gone, and gives the right to it back to `payer`.
  void giveBack(Slot slot, SlabPart payer) {
    returns.back(slot.number(), () -> {
      takeBack(slot);
      payer.giveUp(1);
    });
  }

  private synchronized void takeBack(Slot slot) {
    SlabPart.Run run = slot.run();
    if (run != null && run.takeBack()) {
      spare.add(slot);
    } else {
      free[freeCount++] = slot; // as long as there are slots
    }
  }

  /// Bytes from the start of a slot to the start of the next.
  int strideBytes() {
    return strideBytes;
  }

  /// Adds the slots of `run`, without the right to them.
  synchronized void add(SlabPart.Run run) {
    requireOpen();
    runs.add(run);
    addFree(run.makeSlots());
  }

  /// Sets the free slots of `run` aside. A claim that has a right to a slot already takes one of them if there is no
  /// other.
  synchronized void retire(SlabPart.Run run) {
    run.markRetired();
    frees = true;
    int kept = 0;
    for (int i = 0; i < freeCount; i++) {
      if (free[i].run() == run) {
        spare.add(free[i]);
      } else {
        free[kept++] = free[i];
      }
    }
    Arrays.fill(free, kept, freeCount, null);
    freeCount = kept;
  }

  /// Gives back the memory of retired runs whose slots are all free, and of all runs if the arena is closed and idle.
  void endRuns() {
    List<SlabPart.Run> ended;
    synchronized (this) {
      if (runs.isEmpty()) {
        return;
      }
      ended = freed ? List.copyOf(runs) : runs.stream().filter(SlabPart.Run::isOver).toList();
      runs.removeAll(ended);
      frees = closed || runs.stream().anyMatch(SlabPart.Run::isRetired);
      spare.removeIf(slot -> ended.contains(slot.run()));
      slots -= ended.stream().mapToInt(SlabPart.Run::slots).sum();
    }
    ended.forEach(SlabPart.Run::end);
  }

  /// Slots whose right was acquired before.
  synchronized List<Slot> takeFree(int count) {
    requireOpen();
    while (freeCount < count && ownSlots < capacitySlots) {
      grow();
    }
    while (freeCount < count) { // the right was acquired before a run was retired
      free[freeCount++] = spare.remove();
    }
    List<Slot> taken = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      Slot slot = free[--freeCount];
      SlabPart.Run run = slot.run();
      if (run != null) {
        run.lent();
      }
      taken.add(slot);
    }
    highWater = Math.max(highWater, slots - freeCount);
    return taken;
  }

  private void requireOpen() {
    if (closed) {
      throw new ArenaClosedException(whole.name());
    }
  }

  private void grow() {
    int count = (int) Math.min(slotsPerChunk, capacitySlots - ownSlots);
    ownSlots += count;
    try {
      addFree(makeSlots(null, allocate((long) count * strideBytes), count));
    } catch (RuntimeException | Error e) {
      ownSlots -= count;
      throw e;
    }
  }

  List<Slot> makeSlots(SlabPart.@Nullable Run run, MemorySegment memory, int count) {
    List<Slot> made = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      made.add(new Slot(this, run, memory.asSlice((long) i * strideBytes, layout.blockBytes()), numbered++));
    }
    return made;
  }

  private void addFree(List<Slot> made) {
    slots += made.size();
    if (free.length < slots) {
      free = Arrays.copyOf(free, Math.max(2 * free.length, slots));
    }
    for (Slot slot : made.reversed()) { // the lowest address on top of the stack
      free[freeCount++] = slot;
    }
  }

  private MemorySegment allocate(long bytes) {
    try {
      return chunks.chunk(bytes);
    } catch (OutOfMemoryError e) {
      throw new MemoryExhaustedException(whole.name(), bytes, e);
    }
  }

  void freeMemoryIfIdle() {
    if (frees) {
      closeIfIdle();
      endRuns();
    }
  }

  private synchronized void closeIfIdle() {
    if (closed && !freed && freeCount + spare.size() == slots) {
      freed = true;
      chunks.close();
    }
  }

  /// Runs the return of a slot whose last hold is gone, which may serve a claim that waits. Any thread.
  @FunctionalInterface
  public interface SlotReturns {
    /// Runs `giveBack`, before this returns.
    ///
    /// @param slot number of the slot in its arena
    void back(int slot, Runnable giveBack);

    /// Runs it and does nothing else.
    static SlotReturns now() {
      return (slot, giveBack) -> giveBack.run();
    }
  }

  /// Gives a [SlabArena] its memory, chunk by chunk. One caller at a time; the arena closes it.
  public interface ChunkSource extends AutoCloseable {
    /// A chunk that begins at a multiple of 64 bytes and is valid on all threads until [#close()]. It need not be
    /// zeroed.
    ///
    /// @param bytes at most [SlabArena#MAX_CHUNK_BYTES]
    /// @throws OutOfMemoryError if there is no more memory; a source that knows the reason throws a
    ///     [io.penstock.KvException]
    MemorySegment chunk(long bytes);

    /// Frees all chunks, which are not used any more.
    @Override
    void close();

    /// Memory that other processes of this user on this host can map to read, so that slices need not travel to them
    /// as bytes; that of [#ofSystem()] where the system has no such memory.
    ///
    /// @param name shown in `/proc`
    static ChunkSource shared(String name) {
      try {
        return new SharedChunks(name);
      } catch (SystemCallException e) {
        return ofSystem();
      }
    }

    /// Memory of this process, in large pages where the system makes them on advice.
    static ChunkSource ofSystem() {
      Arena arena = Arena.ofShared();
      return new ChunkSource() {
        @Override
        public MemorySegment chunk(long bytes) {
          return NativeMemory.allocate(bytes, arena);
        }

        @Override
        public void close() {
          arena.close();
        }
      };
    }
  }

  /// The arena was closed: it lends no more.
  public static final class ArenaClosedException extends PermanentKvException {
    private final String arena;

    public ArenaClosedException(String arena) {
      super(arena + " must be open (was closed)");
      this.arena = arena;
    }

    public String arena() {
      return arena;
    }
  }

  /// The system refused the memory for another chunk of an arena: the machine, or a limit on the process, is too small
  /// for its capacity. Lent memory stays valid, and a claim that fits the memory already allocated succeeds. Most
  /// systems promise more memory than they have and end the process later. `-XX:MaxDirectMemorySize` does not bound
  /// arenas.
  public static final class MemoryExhaustedException extends TransientKvException {
    private final String arena;
    private final long bytes;

    public MemoryExhaustedException(String arena, long bytes, OutOfMemoryError cause) {
      super(arena + ": memory for another " + bytes + " bytes must be available (was refused): " + cause.getMessage(),
          cause);
      this.arena = arena;
      this.bytes = bytes;
    }

    public String arena() {
      return arena;
    }

    /// Bytes that the system refused.
    public long bytes() {
      return bytes;
    }
  }
}
