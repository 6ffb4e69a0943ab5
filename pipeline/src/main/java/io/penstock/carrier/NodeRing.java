package io.penstock.carrier;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.Block;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.block.SpaceId;
import io.penstock.check.Checks;
import io.penstock.system.LiveClock;
import io.penstock.system.PeerRegion;
import io.penstock.system.SharedRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The node's end of a read ring: a client on the same host posts keys in its memory, and a thread of this end answers
/// in its own where the blocks lie. An answer is a lease: the block keeps its memory until the client releases it, the
/// life of a lease is over, or the ring closes.
///
/// Each side writes its own region alone, so a client that breaks the rules, or is killed, harms only itself. A lease
/// ends before its memory can get other bytes: the client compares its number after each read.
public final class NodeRing implements AutoCloseable {
  /// Maximum sleep of the thread while blocks are leased: a release wakes no thread.
  private static final long RELEASES_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /// Receives the blocks of one request.
  @FunctionalInterface
  public interface Found {
    /// @param blocks a handle of its own for each key, in order, or null if one of them has no block. The client
    ///     compares the bytes
    /// @return whether the client may read them; else it asks again over the connection
    @CanIgnoreReturnValue
    boolean blocks(@Nullable List<Block> blocks);
  }

  /// Finds the blocks of a space.
  public interface Blocks {
    /// Looks for the blocks of `keys`. The ring's thread calls it, so it must not block.
    ///
    /// @param found called once, on any thread
    void find(List<BlockKey> keys, Found found);

    /// A client found that the block of `key` differs from its checksums: compares it, and removes it if it does.
    void damaged(BlockKey key);
  }

  /// Limits of a client.
  ///
  /// @param leases maximum number of blocks at a time
  /// @param life maximum time of a lease
  /// @param spin maximum spin of the ring's thread before it sleeps; zero for none
  public record Terms(int leases, Duration life, Duration spin) {
    public Terms {
      Checks.positive("leases", leases);
      Checks.positive("life", life);
      Checks.notNegative("spin", spin);
    }
  }

  private record Leased(Block block, long endNanos) {}

  private final SpaceId space;
  private final BlockLayout layout;
  private final Blocks blocks;
  private final Terms terms;
  private final SharedRegion own;
  private final PeerRegion theirs;
  private final RingSignal signal;
  private final Thread thread;
  @GuardedBy("this") private final @Nullable Leased[] leased = new Leased[RingLayout.SLOTS];
  /// A bit for each slot whose get has no answer yet.
  @GuardedBy("this") private long asked;
  /// Number of the last lease of each slot.
  @GuardedBy("this") private final int[] numbers = new int[RingLayout.SLOTS];
  /// Key of the block that each slot was asked for last; null once its lease was released. Touched under `serving`.
  private final @Nullable BlockKey[] lastKeys = new BlockKey[RingLayout.SLOTS];
  @GuardedBy("this") private int leases;
  /// Leases that gets without an answer may still have.
  @GuardedBy("this") private int promised;
  @GuardedBy("this") private boolean ended;
  private final Object serving = new Object();
  /// Requests that were served; written under `serving`.
  private volatile int seen;
  private volatile boolean closed;

  private NodeRing(SpaceId space, BlockLayout layout, Blocks blocks, Terms terms, SharedRegion own,
      PeerRegion theirs, ThreadFactory threads) {
    this.space = space;
    this.layout = layout;
    this.blocks = blocks;
    this.terms = terms;
    this.own = own;
    this.theirs = theirs;
    this.signal = new RingSignal(own.all(), theirs.memory(), terms.spin().toNanos());
    this.thread = threads.newThread(this::run);
  }

  /// Opens a ring and starts its thread.
  ///
  /// @param process of the client
  /// @param requests region of the client
  /// @throws PeerMemoryException if there is no such region, or the system has no memory or no thread for this end
  public static NodeRing open(long process, RingPlace requests, SpaceId space, BlockLayout layout, Blocks blocks,
      Terms terms) {
    return open(process, requests, space, layout, blocks, terms,
        Thread.ofPlatform().daemon().name("penstock-ring-node").factory());
  }

  static NodeRing open(long process, RingPlace requests, SpaceId space, BlockLayout layout, Blocks blocks, Terms terms,
      ThreadFactory threads) {
    try {
      PeerRegion theirs = map(process, requests, SharedRegion.Kind.REQUESTS, RingLayout.requestsBytes());
      try {
        SharedRegion own = populated(SharedRegion.Kind.ANSWERS, "answers", RingLayout.answersBytes(layout));
        try {
          NodeRing ring = new NodeRing(space, layout, blocks, terms, own, theirs, threads);
          ring.thread.start();
          return ring;
        } catch (Throwable e) {
          own.close();
          throw e;
        }
      } catch (Throwable e) {
        theirs.close();
        throw e;
      }
    } catch (IOException | OutOfMemoryError e) {
      throw refused(e);
    }
  }

  static SharedRegion populated(SharedRegion.Kind kind, String name, long bytes) throws IOException {
    SharedRegion region = SharedRegion.create(kind, name, bytes);
    try {
      SharedRegion.populate(region.all());
      RingLayout.writeFormat(region.all());
      return region;
    } catch (Throwable e) {
      region.close();
      throw e;
    }
  }

  /// @param cause the system has no memory, or no thread; or the peer's memory cannot be read
  static PeerMemoryException refused(Throwable cause) {
    return new PeerMemoryException(String.valueOf(cause.getMessage()), cause);
  }

  static PeerRegion map(long process, RingPlace place, SharedRegion.Kind kind, long bytes) throws IOException {
    PeerRegion region = PeerRegion.map(process, place.descriptor(), kind);
    try {
      if (!region.hasToken(place.token()) || region.memory().byteSize() < SharedRegion.HEADER_BYTES + bytes) {
        throw new IOException("region of a ring must be that of the peer, of " + bytes + " bytes (was another)");
      }
      RingLayout.requireFormat(kind, region.memory());
      return region;
    } catch (Throwable e) {
      region.close();
      throw e;
    }
  }

  /// Region of this end's answers.
  public RingPlace place() {
    return new RingPlace(own.descriptor(), own.token());
  }

  /// Blocks that are leased now.
  public synchronized int leases() {
    return leases;
  }

  private void run() {
    try {
      while (look()) {
        late(LiveClock.process().nanos()).forEach(Block::close);
        signal.await(seen, leases() == 0 ? RingSignal.mostNanos() : RELEASES_NANOS);
      }
    } finally {
      end();
    }
  }

  /// Serves the entries that the client has posted so far.
  ///
  /// @return false if the ring is closed, or the client broke the rules: it gets no more answers
  public boolean look() {
    synchronized (serving) {
      int posted = closed ? seen : signal.received();
      if (closed || posted - seen < 0 || posted - seen > RingLayout.REQUESTS) {
        return false;
      }
      while (seen != posted) {
        int served = serve(posted - seen);
        if (served == 0) {
          return false;
        }
        seen = seen + served;
      }
      return true;
    }
  }

  /// Serves the next request.
  ///
  /// @param posted entries that the client has posted
  /// @return entries of the request; 0 if the client broke the rules
  @GuardedBy("serving") private int serve(int posted) {
    long first = RingLayout.request(seen);
    if (theirs.memory().get(JAVA_INT, first + RingLayout.OPERATION) != RingLayout.GET) {
      return release(first) ? 1 : 0;
    }
    int more = theirs.memory().get(JAVA_INT, first + RingLayout.MORE);
    return more >= 0 && more < posted && more < RingLayout.SLOTS && get(more + 1) ? more + 1 : 0;
  }

  /// @return false if the client broke the rules
  private boolean release(long entry) {
    int slot = slot(entry);
    if (slot < 0) {
      return false;
    }
    Block over = end(slot);
    if (over != null) {
      over.close();
    }
    BlockKey key = lastKeys[slot];
    lastKeys[slot] = null; // one report a lease, also of one whose life was over
    if (key != null && theirs.memory().get(JAVA_INT, entry + RingLayout.OPERATION) == RingLayout.DAMAGED) {
      blocks.damaged(key);
    }
    return true;
  }

  /// Serves the request of the next `count` entries. Earlier leases of its slots end.
  ///
  /// @return false if the client broke the rules
  @GuardedBy("serving") private boolean get(int count) {
    int[] slots = new int[count];
    List<BlockKey> keys = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      long entry = RingLayout.request(seen + i);
      slots[i] = slot(entry);
      if (slots[i] < 0 || theirs.memory().get(JAVA_INT, entry + RingLayout.OPERATION) != RingLayout.GET) {
        return false;
      }
      BlockKey key = key(entry);
      keys.add(key);
      lastKeys[slots[i]] = key;
      Block over = ask(slots[i]);
      if (over != null) {
        over.close();
      }
    }
    if (promise(count)) {
      find(keys, slots);
    } else {
      answer(slots, 0, null); // without a look: the client asks over the connection, where a look counts
    }
    return true;
  }

  /// The slot that an entry names; negative if it names none, or one whose get has no answer yet.
  private int slot(long entry) {
    int slot = theirs.memory().get(JAVA_INT, entry + RingLayout.SLOT);
    return slot >= 0 && slot < RingLayout.SLOTS && !isAsked(slot) ? slot : -1;
  }

  private BlockKey key(long entry) {
    return new BlockKey(space, new BlockHash(theirs.memory().get(JAVA_LONG, entry + RingLayout.HASH),
        theirs.memory().get(JAVA_LONG, entry + RingLayout.HASH + Long.BYTES)));
  }

  /// Whether a get of `slot` has no answer yet.
  private synchronized boolean isAsked(int slot) {
    return (asked & (1L << slot)) != 0;
  }

  /// Marks a get of `slot` as waiting for its answer.
  ///
  /// @return the block of the earlier lease of the slot, see [#end]
  private synchronized @Nullable Block ask(int slot) {
    asked |= 1L << slot;
    return end(slot);
  }

  /// Reserves `count` leases for a request, if the client may have so many.
  private synchronized boolean promise(int count) {
    boolean fits = count <= terms.leases() - leases - promised;
    promised += fits ? count : 0;
    return fits;
  }

  private void find(List<BlockKey> keys, int[] slots) {
    try {
      blocks.find(keys, found -> answer(slots, slots.length, found));
    } catch (RuntimeException | Error e) { // the client asks over the connection, which says what is wrong
      answer(slots, slots.length, null);
    }
  }

  /// @return whether the client may read the blocks
  @CanIgnoreReturnValue
  private boolean answer(int[] slots, int kept, @Nullable List<Block> found) {
    boolean areLeased = lease(slots, kept, found);
    if (!areLeased && found != null) {
      found.forEach(Block::close);
    }
    return areLeased;
  }

  /// Answers the gets of `slots`, unless that is done already or the ring has ended.
  ///
  /// @param kept leases that were promised to them
  /// @return whether the ring has the blocks now
  private synchronized boolean lease(int[] slots, int kept, @Nullable List<Block> found) {
    if (closed || !isAsked(slots[0])) {
      return false;
    }
    promised -= kept;
    List<Block> readable = found != null && areWritten(slots, found) ? found : List.of();
    for (int i = 0; i < slots.length; i++) {
      asked &= ~(1L << slots[i]);
      if (readable.isEmpty()) {
        own.all().set(JAVA_INT, RingLayout.answer(slots[i], layout) + RingLayout.STATUS, RingLayout.ASK);
      } else {
        lease(slots[i], readable.get(i));
      }
      own.all().set(JAVA_INT, RingLayout.answered(signal.next() + i), slots[i]);
    }
    signal.post(slots.length, true);
    return !readable.isEmpty();
  }

  @GuardedBy("this") private void lease(int slot, Block block) {
    leased[slot] = new Leased(block, LiveClock.process().nanos() + terms.life().toNanos());
    leases++;
    numbers[slot] = numbers[slot] == Integer.MAX_VALUE ? 1 : numbers[slot] + 1;
    own.all().set(JAVA_INT, RingLayout.answer(slot, layout) + RingLayout.LEASE, numbers[slot]);
  }

  private boolean areWritten(int[] slots, List<Block> found) {
    for (int i = 0; i < slots.length; i++) {
      if (!write(RingLayout.answer(slots[i], layout), found.get(i))) {
        return false;
      }
    }
    return true;
  }

  /// Writes the place of `block` into the answer at `at`. Returns false if a client cannot read the block there.
  private boolean write(long at, Block block) {
    try (LayerSpan all = block.span(GranuleRange.all(layout))) {
      long address = all.memory().address();
      SharedRegion region = SharedRegion.at(address);
      if (region == null) {
        return false;
      }
      MemorySegment to = own.all();
      to.set(JAVA_INT, at + RingLayout.STATUS, RingLayout.FOUND);
      to.set(JAVA_INT, at + RingLayout.DESCRIPTOR, region.descriptor());
      region.putToken(to.asSlice(at + RingLayout.TOKEN, SharedRegion.TOKEN_BYTES).asByteBuffer());
      to.set(JAVA_LONG, at + RingLayout.OFFSET, region.offset(address));
      for (int i = 0; i < layout.granules(); i++) {
        to.set(JAVA_INT, at + RingLayout.CHECKSUMS + (long) i * Integer.BYTES, block.checksum(i));
      }
      return true;
    }
  }

  /// Ends the lease of `slot`; null if it has none. The caller closes the block without the lock, because returned
  /// memory runs its waiters.
  private synchronized @Nullable Block end(int slot) {
    Leased over = leased[slot];
    if (over == null) {
      return null;
    }
    RingLayout.WORD.setOpaque(own.all(), RingLayout.answer(slot, layout) + RingLayout.LEASE, 0);
    VarHandle.fullFence(); // a reader that finds other bytes finds no lease
    leased[slot] = null;
    leases--;
    return over.block();
  }

  /// Ends the leases whose life is over; all of them if the ring has ended. The caller closes the blocks.
  private synchronized List<Block> late(long now) {
    List<Block> late = new ArrayList<>(0);
    for (int slot = 0; leases > 0 && slot < leased.length; slot++) {
      Leased each = leased[slot];
      Block over = each != null && (ended || now - each.endNanos() >= 0) ? end(slot) : null;
      if (over != null) {
        late.add(over);
      }
    }
    return late;
  }

  private void end() {
    synchronized (this) {
      closed = true;
      ended = true;
      signal.end();
    }
    late(0).forEach(Block::close);
    synchronized (serving) { // a look that goes on ends first
      theirs.close();
    }
    own.close();
  }

  /// Ends all leases, soon. Idempotent.
  @Override
  public synchronized void close() {
    closed = true;
    if (!ended) {
      signal.wake();
    }
  }
}
