package io.penstock.carrier;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.Block;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.block.SpaceId;
import io.penstock.check.Checks;
import io.penstock.system.PeerRegion;
import io.penstock.system.SharedRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The node's end of a read ring: a client on the same host posts keys in its memory, and a thread of this end answers
/// in its own where the blocks lie. An answer is a lease: the block keeps its memory until the client releases it, the
/// life of a lease is over, or the ring closes.
///
/// Each side writes its own region alone, so a client that breaks the rules, or is killed, harms only itself. A lease
/// ends before its memory can get other bytes: the client compares its number after each read.
public final class NodeRing implements AutoCloseable {
  /// How long the thread may sleep while blocks are leased: a release wakes no thread.
  private static final long RELEASES_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /// Finds the blocks of a space.
  public interface Blocks {
    /// Looks for the block of `key`. The ring's thread calls it, so it must not block.
    ///
    /// @param found hears once, on any thread: a handle of its own, or null if there is no block. The client compares
    ///     the bytes
    void find(BlockKey key, Consumer<@Nullable Block> found);

    /// A client found that the block of `key` differs from its checksums: compares it, and removes it if it does.
    void damaged(BlockKey key);
  }

  /// What a client may have.
  ///
  /// @param leases most blocks at a time
  /// @param life longest time of a lease
  /// @param spin longest spin of the ring's thread before it sleeps; zero for none
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
  /// Number of the lease that each slot had last.
  @GuardedBy("this") private final int[] numbers = new int[RingLayout.SLOTS];
  @GuardedBy("this") private int leases;
  @GuardedBy("this") private boolean ended;
  private final Object serving = new Object();
  /// Requests that were served; written under `serving`.
  private volatile int seen;
  private volatile boolean closed;

  private NodeRing(SpaceId space, BlockLayout layout, Blocks blocks, Terms terms, SharedRegion own,
      PeerRegion theirs) {
    this.space = space;
    this.layout = layout;
    this.blocks = blocks;
    this.terms = terms;
    this.own = own;
    this.theirs = theirs;
    this.signal = new RingSignal(own.all(), theirs.memory(), terms.spin().toNanos());
    this.thread = Thread.ofPlatform().daemon().name("penstock-ring-node").unstarted(this::run);
  }

  /// Opens a ring and starts its thread.
  ///
  /// @param process of the client
  /// @param requests region of the client
  /// @throws PeerMemoryException if there is no such region, or no memory for this end
  public static NodeRing open(long process, RingPlace requests, SpaceId space, BlockLayout layout, Blocks blocks,
      Terms terms) {
    try {
      PeerRegion theirs = map(process, requests, SharedRegion.Kind.REQUESTS, RingLayout.requestsBytes());
      try {
        SharedRegion own =
            SharedRegion.create(SharedRegion.Kind.ANSWERS, "answers", RingLayout.answersBytes(layout));
        SharedRegion.populate(own.all());
        NodeRing ring = new NodeRing(space, layout, blocks, terms, own, theirs);
        ring.thread.start();
        return ring;
      } catch (IOException | RuntimeException e) {
        theirs.close();
        throw e;
      }
    } catch (IOException e) {
      throw new PeerMemoryException(String.valueOf(e.getMessage()), e);
    }
  }

  static PeerRegion map(long process, RingPlace place, SharedRegion.Kind kind, long bytes) throws IOException {
    PeerRegion region = PeerRegion.map(process, place.descriptor(), kind);
    if (!region.hasToken(place.token()) || region.memory().byteSize() < SharedRegion.HEADER_BYTES + bytes) {
      region.close();
      throw new IOException("region of a ring must be that of the peer, of " + bytes + " bytes (was another)");
    }
    return region;
  }

  /// Where this end answers.
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
        late(System.nanoTime()).forEach(Block::close);
        signal.await(seen, leases() == 0 ? RingSignal.mostNanos() : RELEASES_NANOS);
      }
    } finally {
      end();
    }
  }

  /// Serves what the client has posted so far.
  ///
  /// @return false if the ring is closed, or the client broke the rules: it hears no answer any more
  public boolean look() {
    synchronized (serving) {
      int posted = closed ? seen : signal.received();
      if (closed || posted - seen < 0 || posted - seen > RingLayout.REQUESTS) {
        return false;
      }
      while (seen != posted) {
        if (!serve(RingLayout.request(seen))) {
          return false;
        }
        seen = seen + 1;
      }
      return true;
    }
  }

  /// @return false if the client broke the rules
  @GuardedBy("serving") private boolean serve(long request) {
    MemorySegment from = theirs.memory();
    int slot = from.get(JAVA_INT, request + RingLayout.SLOT);
    if (slot < 0 || slot >= RingLayout.SLOTS || isAsked(slot)) {
      return false;
    }
    int operation = from.get(JAVA_INT, request + RingLayout.OPERATION);
    Block ended = end(slot);
    if (ended != null) {
      BlockKey key = ended.key();
      ended.close();
      if (operation == RingLayout.DAMAGED) {
        blocks.damaged(key);
      }
    }
    if (operation == RingLayout.GET) {
      BlockHash hash = new BlockHash(from.get(JAVA_LONG, request + RingLayout.HASH),
          from.get(JAVA_LONG, request + RingLayout.HASH + Long.BYTES));
      find(new BlockKey(space, hash), slot);
    }
    return true;
  }

  private void find(BlockKey key, int slot) {
    synchronized (this) {
      asked |= 1L << slot;
    }
    try {
      blocks.find(key, block -> answer(slot, block));
    } catch (RuntimeException e) { // the client asks over the connection, which says what is wrong
      answer(slot, null);
    }
  }

  /// Whether a get of `slot` has no answer yet.
  private synchronized boolean isAsked(int slot) {
    return (asked & (1L << slot)) != 0;
  }

  private void answer(int slot, @Nullable Block block) {
    boolean isLeased = lease(slot, block);
    if (!isLeased && block != null) {
      block.close();
    }
  }

  /// Answers the get of `slot`, unless that is answered already or the ring has ended.
  ///
  /// @return whether the ring has `block` now
  private synchronized boolean lease(int slot, @Nullable Block block) {
    if (closed || !isAsked(slot)) {
      return false;
    }
    asked &= ~(1L << slot);
    long at = RingLayout.answer(slot, layout);
    boolean isLeased = false;
    if (block != null && leases < terms.leases() && write(at, block)) {
      isLeased = true;
      leased[slot] = new Leased(block, System.nanoTime() + terms.life().toNanos());
      leases++;
      numbers[slot] = numbers[slot] == Integer.MAX_VALUE ? 1 : numbers[slot] + 1;
      own.all().set(JAVA_INT, at + RingLayout.LEASE, numbers[slot]);
    } else {
      own.all().set(JAVA_INT, at + RingLayout.STATUS, RingLayout.ASK);
    }
    own.all().set(JAVA_INT, RingLayout.answered(signal.next()), slot);
    signal.post(true);
    return isLeased;
  }

  /// Says where `block` lies; false if a client cannot read it there.
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

  /// Ends the lease of `slot`; null if it has none. The caller closes the block, without the lock: memory that comes
  /// back runs what waits for it.
  private synchronized @Nullable Block end(int slot) {
    Leased over = leased[slot];
    if (over == null) {
      return null;
    }
    own.all().set(JAVA_INT, RingLayout.answer(slot, layout) + RingLayout.LEASE, 0);
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
