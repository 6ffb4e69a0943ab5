package io.penstock.wire.transfer;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.PermanentKvException;
import io.penstock.check.Checks;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The memory that a node lets its peers read and write, as segments, and the notifications that peers send it. Safe
/// from any thread.
///
/// Segments never overlap. A batch is registered as a whole or not at all, and published once. The memory stays the
/// caller's: it must live until `unregister` has completed.
public final class SegmentRegistry {
  private enum State {
    REGISTERING, LIVE, CLOSING
  }

  private final long generation;
  private final List<Hook> hooks;
  private final NotificationInbox inbox;
  /// All segments, including those being added and removed, by address.
  @GuardedBy("this") private final TreeMap<Long, Entry> byAddress = new TreeMap<>();
  /// Segments whose memory the CPU does not reach, by number.
  @GuardedBy("this") private final TreeMap<Long, Entry> staged = new TreeMap<>();
  @GuardedBy("this") private final Map<Long, Entry> byNumber = new HashMap<>();
  @GuardedBy("this") private final Map<String, Entry> byName = new HashMap<>();
  @GuardedBy("this") private long lastNumber;
  private volatile Snapshot published; // written under the lock

  /// @param generation differs from start to start of the node
  /// @param hooks receive each segment, in order
  /// @param inboxItems maximum number of notifications that wait for their reader
  public SegmentRegistry(long generation, List<Hook> hooks, int inboxItems) {
    this.generation = generation;
    this.hooks = List.copyOf(hooks);
    this.inbox = new NotificationInbox(inboxItems);
    this.published = new Snapshot(generation, 0, List.of());
  }

  /// Without hooks, and with 1,024 notifications that may wait.
  public SegmentRegistry(long generation) {
    this(generation, List.of(), 1024);
  }

  /// Another user of registered memory, such as a transport that pins it.
  public interface Hook {
    /// @throws RuntimeException if the memory cannot be registered; then the whole batch is not
    void registered(Segment segment, MemorySegment memory);

    /// The segment goes, or its batch failed.
    void unregistered(Segment segment);
  }

  /// The segments at one moment.
  ///
  /// @param version of the publication: one more for each batch that was added or removed
  public record Snapshot(long generation, long version, List<Segment> segments) {
    public Snapshot {
      segments = List.copyOf(segments);
    }
  }

  /// Memory that stays registered until this is closed. Closing is idempotent.
  public static final class Hold implements AutoCloseable {
    private final List<MemorySegment> memory;
    private final @Nullable StagedMemory staged;
    private final List<StagedMemory.Part> parts;
    private final Runnable released;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Hold(List<MemorySegment> memory, @Nullable StagedMemory staged, List<StagedMemory.Part> parts,
        Runnable released) {
      this.memory = memory;
      this.staged = staged;
      this.parts = parts;
      this.released = released;
    }

    /// Memory where the bytes are staged; null if the CPU reaches them.
    public @Nullable StagedMemory staged() {
      return staged;
    }

    /// The parts of [#staged()], in order.
    public List<StagedMemory.Part> stagedParts() {
      return parts;
    }

    /// The parts, in order; none of memory that is staged.
    public List<MemorySegment> memory() {
      return memory;
    }

    @Override
    public void close() {
      if (!closed.getAndSet(true)) {
        released.run();
      }
    }
  }

  /// No segment has this name or handle, or not any more.
  public static final class UnknownSegmentException extends PermanentKvException {
    private final String segment;
    private final long generation;

    /// @param segment name or number
    /// @param generation that was asked for; 0 if any would do
    public UnknownSegmentException(String segment, long generation) {
      super("segment must be one that is registered (was " + segment
          + (generation == 0 ? ")" : " of generation " + generation + ")"));
      this.segment = segment;
      this.generation = generation;
    }

    public String segment() {
      return segment;
    }

    public long generation() {
      return generation;
    }
  }

  private static final class Entry {
    final Segment segment;
    final MemorySegment memory;
    final @Nullable StagedMemory staged;
    final List<Runnable> waiting = new ArrayList<>(0);
    State state = State.REGISTERING;
    int holds;

    Entry(Segment segment, MemorySegment memory, @Nullable StagedMemory staged) {
      this.segment = segment;
      this.memory = memory;
      this.staged = staged;
    }

    void requireIn(long offset, long length) {
      if (Memory.end(offset, length) > segment.bytes()) {
        throw new IllegalArgumentException("offset + length must be <= " + segment.bytes() + ", the bytes of segment "
            + segment.name() + " (was " + offset + " + " + length + ")");
      }
    }

    boolean isQuiet() {
      return state == State.CLOSING && holds == 0;
    }
  }

  /// Registers one segment.
  ///
  /// @throws IllegalArgumentException as [#register(Map)]
  public Segment register(String name, MemorySegment memory) {
    return register(Map.of(name, memory)).getFirst();
  }

  /// Registers all of `batch` or nothing, and publishes once.
  ///
  /// @param batch memory by name
  /// @return the handles, in the order of the map
  /// @throws IllegalArgumentException if memory is empty, not native, confined to a thread, read-only or overlaps
  ///     another segment, or a name is in use
  public List<Segment> register(Map<String, MemorySegment> batch) {
    return register(reserve(batch));
  }

  /// Registers memory that the CPU does not reach. It must not overlap another segment, which is the caller's to see
  /// to.
  ///
  /// @throws IllegalArgumentException if `name` is in use
  public Segment register(String name, StagedMemory memory) {
    return register(List.of(reserve(name, memory))).getFirst();
  }

  private synchronized Entry reserve(String name, StagedMemory memory) {
    Entry entry = named(new Entry(new Segment(generation, lastNumber + 1, name, memory.bytes()), MemorySegment.NULL,
        memory));
    staged.put(entry.segment.number(), entry);
    return entry;
  }

  private List<Segment> register(List<Entry> entries) {
    int told = 0;
    try {
      while (told < entries.size()) {
        tell(entries.get(told));
        told++;
      }
    } catch (Throwable e) {
      for (Entry entry : entries.subList(0, told).reversed()) {
        forget(entry, hooks.size(), e);
      }
      remove(entries);
      throw e;
    }
    synchronized (this) {
      entries.forEach(entry -> entry.state = State.LIVE);
      publish();
    }
    return entries.stream().map(entry -> entry.segment).toList();
  }

  private synchronized List<Entry> reserve(Map<String, MemorySegment> batch) {
    List<Entry> reserved = new ArrayList<>(batch.size());
    try {
      for (Map.Entry<String, MemorySegment> one : batch.entrySet()) {
        reserved.add(reserve(one.getKey(), one.getValue()));
      }
      return reserved;
    } catch (RuntimeException | Error e) {
      remove(reserved);
      throw e;
    }
  }

  @GuardedBy("this") private Entry reserve(String name, MemorySegment memory) {
    Memory.require("memory", requireNonNull(memory, "memory"), true);
    Checks.positive("bytes", memory.byteSize());
    requireFree(memory);
    Entry entry =
        named(new Entry(new Segment(generation, lastNumber + 1, name, memory.byteSize()), memory, null));
    byAddress.put(memory.address(), entry);
    return entry;
  }

  @GuardedBy("this") private Entry named(Entry entry) {
    if (byName.putIfAbsent(entry.segment.name(), entry) != null) {
      throw new IllegalArgumentException("name must not be in use (was " + entry.segment.name() + ")");
    }
    lastNumber++;
    byNumber.put(entry.segment.number(), entry);
    return entry;
  }

  @GuardedBy("this") private void requireFree(MemorySegment memory) {
    Map.Entry<Long, Entry> before = byAddress.lowerEntry(Math.addExact(memory.address(), memory.byteSize()));
    if (before != null && before.getKey() + before.getValue().memory.byteSize() > memory.address()) {
      throw new IllegalArgumentException("memory must not overlap another segment (was "
          + before.getValue().segment.name() + ")");
    }
  }

  /// Announces `entry` to the hooks, all or none.
  private void tell(Entry entry) {
    int told = 0;
    try {
      for (Hook hook : hooks) {
        hook.registered(entry.segment, entry.memory);
        told++;
      }
    } catch (Throwable e) {
      forget(entry, told, e);
      throw e;
    }
  }

  /// Announces to the first `told` hooks that `entry` is removed, the last one first.
  private void forget(Entry entry, int told, @Nullable Throwable cause) {
    for (Hook hook : hooks.subList(0, told).reversed()) {
      try {
        hook.unregistered(entry.segment);
      } catch (RuntimeException | Error e) {
        if (cause == null) {
          throw e;
        }
        cause.addSuppressed(e);
      }
    }
  }

  private synchronized void remove(List<Entry> entries) {
    for (Entry entry : entries) {
      byAddress.remove(entry.memory.address(), entry);
      staged.remove(entry.segment.number(), entry);
      byNumber.remove(entry.segment.number(), entry);
      byName.remove(entry.segment.name(), entry);
    }
  }

  @GuardedBy("this") private void publish() {
    List<Segment> live =
        Stream.concat(byAddress.values().stream(), staged.values().stream()).filter(entry -> entry.state == State.LIVE)
            .map(entry -> entry.segment).toList();
    published = new Snapshot(generation, published.version() + 1, live);
  }

  /// Takes one segment away.
  ///
  /// @return as [#unregister(List)]
  public Mono<Void> unregister(Segment segment) {
    return unregister(List.of(segment));
  }

  /// Takes segments away and publishes once. From its subscription on no item begins to use them.
  ///
  /// @return lazy; completes when no item uses them any more; signals [UnknownSegmentException] if one of them is not
  ///     registered, and takes nothing away then
  public Mono<Void> unregister(List<Segment> segments) {
    return Mono.create(sink -> {
      try {
        Leaving leaving = new Leaving(close(segments), sink::success, sink::error);
        leaving.begin();
      } catch (UnknownSegmentException e) {
        sink.error(e);
      }
    });
  }

  private synchronized List<Entry> close(List<Segment> segments) {
    List<Entry> closing = new ArrayList<>(segments.size());
    for (Segment segment : Set.copyOf(segments)) {
      closing.add(live(segment.number(), segment.generation()));
    }
    closing.forEach(entry -> entry.state = State.CLOSING);
    publish();
    return closing;
  }

  @GuardedBy("this") private Entry live(long number, long asked) {
    Entry entry = asked == generation ? byNumber.get(number) : null;
    if (entry == null || entry.state != State.LIVE) {
      throw new UnknownSegmentException("number " + number, asked);
    }
    return entry;
  }

  /// Segments of one `unregister` until none of them is in use.
  private final class Leaving {
    private final List<Entry> entries;
    private final Runnable gone;
    private final Consumer<Throwable> failed;
    private final AtomicBoolean over = new AtomicBoolean();

    Leaving(List<Entry> entries, Runnable gone, Consumer<Throwable> failed) {
      this.entries = entries;
      this.gone = gone;
      this.failed = failed;
    }

    void begin() {
      synchronized (SegmentRegistry.this) {
        entries.forEach(entry -> entry.waiting.add(this::look));
      }
      look();
    }

    private void look() {
      boolean quiet;
      synchronized (SegmentRegistry.this) {
        quiet = entries.stream().allMatch(Entry::isQuiet);
      }
      if (quiet && !over.getAndSet(true)) {
        leave();
      }
    }

    private void leave() {
      Throwable failure = null;
      for (Entry entry : entries.reversed()) {
        try {
          forget(entry, hooks.size(), null);
        } catch (RuntimeException | Error e) {
          failure = e;
        }
      }
      remove(entries);
      if (failure == null) {
        gone.run();
      } else {
        failed.accept(failure);
      }
    }
  }

  /// Present segments.
  public Snapshot snapshot() {
    return published;
  }

  /// Holds parts of segments for one operation, all or none.
  ///
  /// @throws UnknownSegmentException if the handle is not one of this generation, or its segment is going
  /// @throws IllegalArgumentException if the part is not inside the segment
  public synchronized Hold hold(List<SegmentLink.Range> ranges) {
    SegmentLink.Range first = ranges.getFirst();
    StagedMemory of = live(first.number(), first.generation()).staged;
    List<MemorySegment> memory = new ArrayList<>(ranges.size());
    List<StagedMemory.Part> parts = new ArrayList<>(0);
    Map<Entry, Integer> held = new LinkedHashMap<>(2);
    for (SegmentLink.Range range : ranges) {
      Entry entry = live(range.number(), range.generation());
      entry.requireIn(range.offset(), range.length());
      if (!Objects.equals(entry.staged, of)) { // the client asks for each alone then
        throw new IllegalArgumentException("parts must be of host memory, or of one other memory (was of several)");
      } else if (of == null) {
        memory.add(entry.memory.asSlice(range.offset(), range.length()));
      } else {
        parts.add(new StagedMemory.Part(range.offset(), range.length()));
      }
      held.merge(entry, 1, Integer::sum);
    }
    held.forEach((entry, holds) -> entry.holds += holds);
    return new Hold(List.copyOf(memory), of, List.copyOf(parts), () -> release(held));
  }

  /// Holds one part of memory that the CPU reaches.
  public synchronized Hold hold(long number, long asked, long offset, long length) {
    Entry entry = live(number, asked);
    entry.requireIn(offset, length);
    MemorySegment memory = entry.memory.asSlice(offset, length);
    entry.holds++;
    return new Hold(List.of(memory), null, List.of(), () -> release(Map.of(entry, 1)));
  }

  private void release(Map<Entry, Integer> held) {
    List<Runnable> told = new ArrayList<>(0);
    synchronized (this) {
      held.forEach((entry, holds) -> {
        entry.holds -= holds;
        if (entry.isQuiet()) {
          told.addAll(entry.waiting);
        }
      });
    }
    told.forEach(Runnable::run);
  }

  /// Notifications from peers, each once. One subscriber at a time; those that wait while there is none go to the next.
  public Flux<Notification> notifications() {
    return inbox.flux();
  }

  /// Accepts a notification, unless it came before.
  ///
  /// @param engine number of the sending engine
  /// @param sequence number of the notification, of that engine
  /// @param asked generation in which the items of its batch completed
  /// @throws UnknownSegmentException if that was another generation: the bytes of the batch are gone
  /// @throws io.penstock.budget.BudgetExhaustedException if the inbox is full
  public void accept(long engine, long sequence, long asked, Notification notification) {
    if (asked != generation) {
      throw new UnknownSegmentException("any", asked);
    }
    inbox.accept(engine, sequence, notification);
  }
}
