package io.penstock.storage.recording;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.recording.EventCodec;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.Script.Payload;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Events in native memory, as pages that are filled one after the other. Adding never waits; memory is allocated when
/// it is first needed, is used again, and has a bound.
///
/// Each event has a number. One that finds no room has a number, too, so that the next page does not follow the one
/// before: a gap.
final class EventPages {
  /// Bytes of a page, if its engine takes that many.
  static final int PAGE_BYTES = 256 << 10;
  /// Bytes of a page for an event that no other page has room for.
  private static final int MOST_PAGE_BYTES = 4 << 20;
  /// A payload is not split for less room than this.
  private static final int LEAST_PAYLOAD = 4 << 10;

  private final Bounds bounds;
  private final LongSupplier nanos;
  private final int pageBytes;
  private final int mostPageBytes;
  @GuardedBy("this") private final ArrayDeque<Filled> free = new ArrayDeque<>();
  /// Full pages, oldest first.
  @GuardedBy("this") private ArrayDeque<Filled> sealed = new ArrayDeque<>();
  @GuardedBy("this") private @Nullable Filled filling;
  @GuardedBy("this") private Set<Runnable> waiting = new LinkedHashSet<>();
  @GuardedBy("this") private long number;
  @GuardedBy("this") private long missed;
  /// Bytes of pages that are not free.
  @GuardedBy("this") private long used;
  private volatile boolean full;
  private volatile boolean closed;

  /// Bounds of the memory.
  ///
  /// @param bytes of all pages
  /// @param isRing whether the oldest page makes room; else new events find none
  /// @param waits whether payloads wait for room, too
  record Bounds(long bytes, boolean isRing, boolean waits) {}

  /// @param maxRecordBytes longest page that can be written
  /// @param first number of the first event
  /// @param nanos clock of the pages' ages
  EventPages(Bounds bounds, int maxRecordBytes, long first, LongSupplier nanos) {
    this.bounds = bounds;
    this.nanos = nanos;
    this.number = first;
    this.pageBytes = (int) Math.min(Math.min(PAGE_BYTES, maxRecordBytes), bounds.bytes() / 4);
    this.mostPageBytes = (int) Math.min(Math.min(MOST_PAGE_BYTES, maxRecordBytes), bounds.bytes() / 2);
  }

  /// A page of events: its memory, and what is in it. Its owner is the ring, or the thread that took it.
  static final class Filled {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final ByteBuffer buffer;
    private long first;
    private int count;
    /// Copies of payloads that have not ended.
    private int copies;
    /// When its first event came.
    private long since;

    private Filled(int bytes) {
      this.memory = arena.allocate(bytes, 64);
      this.buffer = memory.asByteBuffer();
    }

    private void begin(long number, long now) {
      first = number;
      count = 0;
      since = now;
      buffer.clear().position(Page.HEAD_BYTES);
    }

    private int room() {
      return buffer.remaining() - Page.ALIGNMENT;
    }

    /// The page as it is written.
    MemorySegment seal() {
      return Page.seal(buffer, memory, first, count);
    }

    long first() {
      return first;
    }

    /// Number after that of its last event.
    long end() {
      return first + count;
    }

    long since() {
      return since;
    }

    long bytes() {
      return memory.byteSize();
    }

    void free() {
      arena.close();
    }
  }

  void add(RecordedEvent event) {
    int most = EventCodec.mostBytes(event);
    synchronized (this) {
      Filled page = closed ? null : room(most);
      if (page != null) {
        EventCodec.write(event, page.buffer);
        page.count++;
        number++;
      } else if (!closed) {
        leaveOut();
      }
    }
  }

  /// Copies bytes of a block; the copy is made outside the lock.
  ///
  /// @return bytes taken; all of them if they are left out, 0 if they wait for room
  long keep(Payload payload, MemorySegment bytes) {
    Filled page;
    int at;
    int taken;
    synchronized (this) {
      if (closed) {
        return bytes.byteSize();
      } else if (bounds.waits() && full) {
        return 0;
      }
      int least = EventCodec.MOST_PAYLOAD_HEAD + (int) Math.min(LEAST_PAYLOAD, bytes.byteSize());
      page = room(Math.min(least, pageBytes - Page.HEAD_BYTES - Page.ALIGNMENT));
      if (page == null && bounds.waits()) {
        full = true;
        return 0;
      } else if (page == null) {
        leaveOut();
        return bytes.byteSize();
      }
      taken = (int) Math.min(bytes.byteSize(), page.room() - EventCodec.MOST_PAYLOAD_HEAD);
      EventCodec.write(payload, taken, page.buffer);
      at = page.buffer.position();
      page.buffer.position(at + taken);
      page.count++;
      page.copies++;
      number++;
    }
    MemorySegment.copy(bytes, 0, page.memory, at, taken);
    synchronized (this) {
      if (--page.copies == 0 && page != filling) {
        notifyAll();
      }
    }
    return taken;
  }

  @GuardedBy("this") private void leaveOut() {
    number++;
    missed++;
    seal(); // numbers of a page follow one another
  }

  /// The page that has room for `bytes` of one event; null if none has.
  @GuardedBy("this") private @Nullable Filled room(int bytes) {
    Filled page = filling;
    if (page != null && page.room() >= bytes) {
      return page;
    }
    int size = Math.max(pageBytes, Page.HEAD_BYTES + bytes + Page.ALIGNMENT);
    seal();
    Filled next = size > mostPageBytes ? null : taken(size);
    if (next != null) {
      next.begin(number, nanos.getAsLong());
      filling = next;
    }
    return next;
  }

  @GuardedBy("this") private @Nullable Filled taken(int size) {
    while (bounds.isRing() && used + size > bounds.bytes() && !sealed.isEmpty()) {
      recycle(sealed.remove());
    }
    if (used + size > bounds.bytes()) {
      return null;
    }
    used += size;
    full |= used > bounds.bytes() / 2;
    Filled page = size == pageBytes ? free.pollLast() : null;
    return page == null ? new Filled(size) : page;
  }

  @GuardedBy("this") private void seal() {
    if (filling != null) {
      sealed.add(filling);
      filling = null;
      notifyAll();
    }
  }

  @GuardedBy("this") private void recycle(Filled page) {
    used -= page.bytes();
    if (page.bytes() == pageBytes && !closed) {
      free.add(page);
    } else {
      page.free();
    }
  }

  /// The oldest page, full or begun `nanos` ago, once its copies have ended; null if there is none within that time, or
  /// if the thread was interrupted, which closes this. The caller gives the page back.
  synchronized @Nullable Filled take(long nanos) {
    long end = System.nanoTime() + nanos;
    try {
      while (true) {
        long now = System.nanoTime();
        if (sealed.isEmpty() && filling != null && (closed || now - filling.since() >= nanos)) {
          seal();
        }
        Filled oldest = sealed.peek();
        if (oldest != null && oldest.copies == 0) {
          return sealed.remove();
        } else if ((oldest == null && closed) || now - end >= 0) {
          return null;
        }
        TimeUnit.NANOSECONDS.timedWait(this, Math.max(1, end - now));
      }
    } catch (InterruptedException e) {
      closed = true; // what waits goes on when the last page was taken
      return null;
    }
  }

  /// Gives a page back that was taken.
  ///
  /// @return what waited for room and can run now
  synchronized List<Runnable> giveBack(Filled page) {
    recycle(page);
    return (full && used <= bounds.bytes() / 4) || closed ? released() : List.of();
  }

  @GuardedBy("this") private List<Runnable> released() {
    full = false;
    List<Runnable> all = List.copyOf(waiting);
    waiting = new LinkedHashSet<>();
    return all;
  }

  /// Whether more than half of the room is used, until less than a quarter is.
  boolean isFull() {
    return full;
  }

  /// Keeps `work` until there is room.
  ///
  /// @return false if there is room now
  synchronized boolean await(Runnable work) {
    if (!full || closed) {
      return false;
    }
    waiting.add(work);
    return true;
  }

  /// How much work waits for room.
  synchronized int waits() {
    return waiting.size();
  }

  /// Forgets work that waits.
  synchronized void forget(Runnable work) {
    waiting.remove(work);
  }

  /// All pages, full or not, oldest first; the next event begins another one.
  synchronized List<Filled> takeAll() {
    seal();
    List<Filled> all = new ArrayList<>(sealed);
    sealed = new ArrayDeque<>();
    used = 0;
    return all;
  }

  /// Puts pages back that [#takeAll] took, before those that came since. The first that has no room goes, and all older
  /// ones: what is kept has no hole.
  synchronized void putBack(List<Filled> pages) {
    boolean hasRoom = !closed;
    for (Filled page : pages.reversed()) {
      used += page.bytes();
      hasRoom &= used <= bounds.bytes();
      if (!hasRoom) {
        recycle(page);
      } else {
        sealed.addFirst(page);
      }
    }
    long kept = free.size();
    for (long most = Math.max(0, bounds.bytes() - used) / pageBytes; kept > most; kept--) {
      free.remove().free();
    }
  }

  /// Number of the next event.
  synchronized long number() {
    return number;
  }

  /// Events that found no room.
  synchronized long missed() {
    return missed;
  }

  /// Bytes of the pages that have events.
  synchronized long used() {
    return used;
  }

  boolean isClosed() {
    return closed;
  }

  /// Whether it is closed, and all pages were taken.
  synchronized boolean isDrained() {
    return closed && filling == null && sealed.isEmpty();
  }

  /// Takes no more events. What is there can be taken.
  ///
  /// @return what waited for room
  synchronized List<Runnable> close() {
    closed = true;
    notifyAll();
    return released();
  }

  /// Frees all memory.
  synchronized void free() {
    seal();
    sealed.forEach(Filled::free);
    sealed.clear();
    free.forEach(Filled::free);
    free.clear();
  }
}
