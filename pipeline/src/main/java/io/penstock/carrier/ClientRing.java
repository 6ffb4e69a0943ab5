package io.penstock.carrier;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.UnexpectedSliceException;
import io.penstock.check.Uncaught;
import io.penstock.system.PeerRegion;
import io.penstock.system.SharedRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/// The client's end of a read ring: leases blocks of a node on this host where they lie. [NodeRing] has the rules.
///
/// Its memory is there from [#create] on, for the node to map; answers come after [#start]. Safe from any thread.
public final class ClientRing implements AutoCloseable {
  /// Receives the answers to one request, one a key in any order, on the ring's thread, so it must not block.
  public interface Answers {
    /// The answer for the key at `position`.
    ///
    /// @param block leased to the hearer; null if the ring does not have it, and the caller has to ask over the
    ///     connection
    void hear(int position, @Nullable LeasedMemory block);
  }

  /// Answers during whose copies the node can wake, look and answer.
  private static final int ENOUGH = 2;

  private record Asked(BlockKey key, int position, Answers answers) {
    void hear(@Nullable LeasedMemory block) {
      answers.hear(position, block);
    }
  }

  private final BlockLayout layout;
  private final SharedMemoryReceiver memory;
  private final Duration spin;
  private final ThreadFactory threads;
  private final SharedRegion own;
  @GuardedBy("this") private final @Nullable Asked[] asked = new Asked[RingLayout.SLOTS];
  /// A bit for each slot that is neither asked for nor leased.
  @GuardedBy("this") private long free = -1;
  @GuardedBy("this") private boolean ended;
  @GuardedBy("this") private @Nullable RingSignal signal;
  private volatile @Nullable PeerRegion theirs;
  private volatile boolean closed;
  private volatile @Nullable Thread reader;
  /// Answers that are there and that the thread hears after the present one; whether it has asked since without waking
  /// the node. A wake takes as long as a copy of 64 KiB, and the new answer is heard after them anyhow. Touched by
  /// the thread alone.
  private int unheard;
  private boolean owesWake;

  private ClientRing(BlockLayout layout, SharedMemoryReceiver memory, Duration spin, ThreadFactory threads,
      SharedRegion own) {
    this.layout = layout;
    this.memory = memory;
    this.spin = spin;
    this.threads = threads;
    this.own = own;
  }

  /// @param memory reads blocks of the node; stays the caller's
  /// @param spin longest spin of the thread that waits for answers before it sleeps; zero for none
  /// @param threads make that thread
  /// @throws PeerMemoryException if the system has no memory to share
  public static ClientRing create(BlockLayout layout, SharedMemoryReceiver memory, Duration spin,
      ThreadFactory threads) {
    try {
      return new ClientRing(layout, memory, spin, threads,
          NodeRing.populated(SharedRegion.Kind.REQUESTS, "requests", RingLayout.requestsBytes()));
    } catch (IOException e) {
      throw NodeRing.refused(e);
    }
  }

  /// Region of this end's requests.
  public RingPlace place() {
    return new RingPlace(own.descriptor(), own.token());
  }

  /// Maps the answers of the node, and starts the thread that reads them.
  ///
  /// @throws PeerMemoryException if they cannot be read, the system has no thread, or this is closed
  public synchronized void start(RingPlace answers) {
    if (closed) {
      throw new PeerMemoryException("ring must be open (was closed)", null);
    }
    try {
      PeerRegion region = NodeRing.map(memory.process(), answers, SharedRegion.Kind.ANSWERS,
          RingLayout.answersBytes(layout));
      try {
        RingSignal signals = new RingSignal(own.all(), region.memory(), spin.toNanos());
        Thread thread = threads.newThread(() -> run(region.memory(), signals));
        thread.start();
        theirs = region;
        signal = signals;
      } catch (Throwable e) {
        region.close();
        throw e;
      }
    } catch (IOException | OutOfMemoryError e) {
      throw NodeRing.refused(e);
    }
  }

  /// Whether it can ask: it has started, and neither side has ended it.
  public synchronized boolean isOpen() {
    return !closed && signal != null;
  }

  /// Asks for the blocks of `keys` in one request, which the node decides on as a whole: it leases all or none.
  ///
  /// @param answers receives an answer for each key
  /// @return false if the ring has no room for the request now, or has ended; then no answer comes
  public synchronized boolean ask(List<BlockKey> keys, Answers answers) {
    if (closed || signal == null || Long.bitCount(free) < keys.size()) {
      return false;
    }
    for (int i = 0; i < keys.size(); i++) {
      int slot = Long.numberOfTrailingZeros(free);
      free &= ~(1L << slot);
      asked[slot] = new Asked(keys.get(i), i, answers);
      long at = entry(signal.next() + i, RingLayout.GET, slot, i == 0 ? keys.size() - 1 : 0);
      own.all().set(JAVA_LONG, at + RingLayout.HASH, keys.get(i).hash().high());
      own.all().set(JAVA_LONG, at + RingLayout.HASH + Long.BYTES, keys.get(i).hash().low());
    }
    boolean isLater = Thread.currentThread().equals(reader) && unheard >= ENOUGH;
    owesWake |= isLater;
    signal.post(keys.size(), !isLater);
    return true;
  }

  /// Gives back a lease.
  void release(int slot) {
    release(slot, RingLayout.RELEASE);
  }

  /// Gives back a lease of a block that differs from its checksums.
  void releaseDamaged(int slot) {
    release(slot, RingLayout.DAMAGED);
  }

  private synchronized void release(int slot, int operation) {
    post(operation, slot, 0);
    free |= 1L << slot;
  }

  /// Posts an entry that needs no answer, without a wake: the node looks soon enough.
  synchronized void post(int operation, int slot, int more) {
    if (!closed && signal != null) {
      entry(signal.next(), operation, slot, more);
      signal.post(1, false);
    }
  }

  @GuardedBy("this") private long entry(int number, int operation, int slot, int more) {
    long at = RingLayout.request(number);
    own.all().set(JAVA_INT, at + RingLayout.OPERATION, operation);
    own.all().set(JAVA_INT, at + RingLayout.SLOT, slot);
    own.all().set(JAVA_INT, at + RingLayout.MORE, more);
    return at;
  }

  /// The memory of the node, which stays mapped until the caller has released it; false if it is closed.
  boolean retainMemory() {
    return memory.retain();
  }

  void releaseMemory() {
    memory.release();
  }

  /// Whether the node keeps the block of this lease.
  boolean isLeased(int slot, int number) {
    PeerRegion answers = theirs;
    try {
      return !closed && answers != null && (int) RingLayout.WORD.getAcquire(answers.memory(),
          RingLayout.answer(slot, layout) + RingLayout.LEASE) == number;
    } catch (IllegalStateException e) { // unmapped in between
      return false;
    }
  }

  private void run(MemorySegment answers, RingSignal signals) {
    int seen = 0;
    reader = Thread.currentThread();
    try {
      while (!closed) {
        int posted = signals.received();
        if (posted - seen < 0 || posted - seen > RingLayout.SLOTS) {
          break; // the node has ended, or breaks the rules
        }
        while (seen != posted) {
          unheard = posted - seen - 1;
          if (owesWake && unheard < ENOUGH) {
            owesWake = false;
            signals.wakeOther();
          }
          hear(answers, answers.get(JAVA_INT, RingLayout.answered(seen++)));
        }
        signals.await(seen, RingSignal.mostNanos());
      }
    } finally {
      end();
    }
  }

  private void hear(MemorySegment answers, int slot) {
    Asked question = slot < 0 || slot >= RingLayout.SLOTS ? null : take(slot);
    if (question == null) {
      return;
    }
    tell(question, leased(answers, slot, question.key()));
  }

  private static void tell(Asked question, @Nullable LeasedMemory leased) {
    try {
      question.hear(leased);
    } catch (RuntimeException | Error e) {
      Uncaught.report(e);
    }
  }

  private synchronized @Nullable Asked take(int slot) {
    Asked question = asked[slot];
    asked[slot] = null;
    return question;
  }

  private synchronized void free(int slot) {
    free |= 1L << slot;
  }

  /// The block that the node leased; null if it leased none, or its place is not allowed.
  private @Nullable LeasedMemory leased(MemorySegment answers, int slot, BlockKey key) {
    long at = RingLayout.answer(slot, layout);
    if (answers.get(JAVA_INT, at + RingLayout.STATUS) != RingLayout.FOUND) {
      free(slot);
      return null;
    }
    int number = answers.get(JAVA_INT, at + RingLayout.LEASE);
    byte[] token = answers.asSlice(at + RingLayout.TOKEN, SharedRegion.TOKEN_BYTES).toArray(JAVA_BYTE);
    int[] checksums =
        answers.asSlice(at + RingLayout.CHECKSUMS, (long) Integer.BYTES * layout.granules()).toArray(JAVA_INT);
    try {
      if (number == 0) { // its life was over before it was heard of
        release(slot);
        return null;
      }
      MemorySegment block = memory.block(answers.get(JAVA_INT, at + RingLayout.DESCRIPTOR), token,
          answers.get(JAVA_LONG, at + RingLayout.OFFSET), layout.blockBytes());
      return new LeasedMemory(this, slot, number, key, layout, block, checksums);
    } catch (PeerMemoryException | UnexpectedSliceException e) {
      release(slot);
      return null;
    }
  }

  /// Informs the node, and all callers that wait, that the ring has no more answers.
  private void end() {
    synchronized (this) {
      closed = true;
      ended = true;
      if (signal != null) {
        signal.end();
      }
    }
    for (int slot = 0; slot < RingLayout.SLOTS; slot++) {
      Asked question = take(slot);
      if (question != null) {
        tell(question, null);
      }
    }
    PeerRegion answers = theirs;
    if (answers != null) {
      answers.close();
    }
    own.close();
  }

  /// Ends the ring soon: reads of leased blocks fail. Idempotent.
  @Override
  public synchronized void close() {
    closed = true;
    if (signal == null) {
      own.close();
    } else if (!ended) {
      signal.wake();
    }
  }
}
