package io.penstock.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// One thing that happened, in the order in which it happened. Immutable.
///
/// A recording is a row of *turns*. A turn begins with what came from outside: a call, demand, a cancel, the end of a
/// read of a disk, a slot that came back. The facts that follow are what the tier made of it: its decisions, what it
/// sent, what it asked of its stores. The next turn begins when the one before has ended, whatever the threads.
public final class RecordedEvent {
  private static final long[] NONE = {};

  private final Kind kind;
  private final boolean begins;
  private final long at;
  private final int tier;
  private final long flow;
  private final long[] numbers;
  private final List<BlockKey> keys;
  private final String text;

  /// @param begins whether a turn begins with it
  /// @param at time of the turn on the recorded clock, in nanoseconds; 0 unless it begins one
  /// @param tier number of the tier in the recording
  /// @param flow number of the stream or handle; 0 for none
  /// @param numbers as [Kind] says
  public RecordedEvent(Kind kind, boolean begins, long at, int tier, long flow, long[] numbers, List<BlockKey> keys,
      String text) {
    this.kind = requireNonNull(kind, "kind");
    this.begins = begins;
    this.at = at;
    this.tier = tier;
    this.flow = flow;
    this.numbers = numbers;
    this.keys = keys;
    this.text = requireNonNull(text, "text");
  }

  /// A fact of tier 0 without numbers, keys and text.
  static RecordedEvent of(Kind kind, long flow) {
    return new RecordedEvent(kind, false, 0, 0, flow, NONE, List.of(), "");
  }

  /// The first event of a recording.
  ///
  /// @param wallMillis time of the wall clock, in milliseconds since 1970
  /// @param reason why the recording was made; empty for none
  /// @param configuration of the process, as JSON; empty for none. It must hold no secret.
  public static RecordedEvent began(long wallMillis, String reason, String configuration) {
    return new RecordedEvent(Kind.BEGAN, true, 0, 0, 0, new long[] {wallMillis}, List.of(),
        BeganWords.of(reason, configuration));
  }

  /// Events were left out.
  public static RecordedEvent gap(long events) {
    return of(Kind.GAP, 0).with(events);
  }

  RecordedEvent with(long... values) {
    return new RecordedEvent(kind, begins, at, tier, flow, values, keys, text);
  }

  RecordedEvent with(List<BlockKey> named) {
    return new RecordedEvent(kind, begins, at, tier, flow, numbers, named, text);
  }

  RecordedEvent with(BlockKey named) {
    return with(List.of(named));
  }

  RecordedEvent with(String words) {
    return new RecordedEvent(kind, begins, at, tier, flow, numbers, keys, words);
  }

  RecordedEvent ofTier(int number) {
    return new RecordedEvent(kind, begins, at, number, flow, numbers, keys, text);
  }

  /// This event about other keys: those by which the reader of a recording may know the blocks.
  public RecordedEvent withKeys(List<BlockKey> named) {
    return with(named);
  }

  /// This event in other words.
  public RecordedEvent withText(String words) {
    return with(words);
  }

  /// This event as the beginning of a turn.
  RecordedEvent beginning(long nanos) {
    return new RecordedEvent(kind, true, nanos, tier, flow, numbers, keys, text);
  }

  public Kind kind() {
    return kind;
  }

  /// Whether a turn begins with it.
  public boolean begins() {
    return begins;
  }

  /// Time of the turn that it begins, in nanoseconds.
  public long at() {
    return at;
  }

  public int tier() {
    return tier;
  }

  public long flow() {
    return flow;
  }

  /// Whether it is a signal.
  public boolean isSignal() {
    return kind.isSignal();
  }

  /// How many numbers it has.
  public int size() {
    return numbers.length;
  }

  public long number(int i) {
    return numbers[i];
  }

  long[] numbers() {
    return numbers.clone();
  }

  public List<BlockKey> keys() {
    return keys;
  }

  public String text() {
    return text;
  }

  /// The key of an event that has one.
  BlockKey key() {
    return keys.getFirst();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof RecordedEvent that && kind == that.kind && begins == that.begins && at == that.at
        && tier == that.tier && flow == that.flow && Arrays.equals(numbers, that.numbers) && keys.equals(that.keys)
        && text.equals(that.text);
  }

  @Override
  public int hashCode() {
    return 31 * (31 * kind.hashCode() + Long.hashCode(flow)) + Arrays.hashCode(numbers);
  }

  /// *lease tier 0 flow 7 [2] 3 keys 5f0c…*
  @Override
  public String toString() {
    StringBuilder line = new StringBuilder(kind.name().toLowerCase(Locale.ROOT).replace('_', ' '));
    line.append(" tier ").append(tier);
    if (flow != 0) {
      line.append(" flow ").append(flow);
    }
    if (numbers.length > 0) {
      line.append(' ').append(Arrays.toString(numbers));
    }
    if (!keys.isEmpty()) {
      line.append(keys.stream().limit(3).map(BlockKey::hash).map(BlockHash::toString)
          .collect(Collectors.joining(", ", " " + keys.size() + " keys ", keys.size() > 3 ? ", …" : "")));
    }
    return text.isEmpty() ? line.toString() : line + " \"" + text + "\"";
  }

  /// What happened. Those above [#HELD] may begin a turn.
  public enum Kind {
    /// A tier was opened; numbers: 1 if checksums of bytes are told, else none; text: the words that describe it.
    OPENED,
    /// Keys were asked for; numbers: what to do about misses.
    LEASE,
    /// Keys were read under a read lease; numbers: party flow, lease.
    READ,
    /// The windows of a lease are read as blocks; numbers: blocks of a window, whether bytes are compared.
    WINDOWS,
    /// The windows of a lease are read slice by slice; numbers: the shape, whether bytes are compared.
    SLICED_WINDOWS,
    /// The slices of a window; numbers: number of the window.
    SLICES,
    /// The blocks of a window, when all bytes are there.
    BLOCKS,
    /// Demand; numbers: elements.
    REQUEST,
    /// The reader left.
    CANCEL,
    /// A handle was closed: a lease, a window, a reservation, holds.
    CLOSE,
    /// Room was asked for; numbers: pin, its life, upserts; text: group.
    RESERVE,
    /// Drafts were committed; numbers: flow of the reservation, for each its place there, negative (−1 − place) if
    /// incomplete; then, if checksums are told, the checksum of each, −1 if incomplete.
    COMMIT,
    /// Keys were removed.
    REMOVE,
    /// The holds of a party were opened; numbers: party.
    HOLDS,
    /// A read lease was asked for; numbers: holds, life, prefix only, survives, prefetch.
    HOLD,
    /// A read lease was released; numbers: holds, lease.
    RELEASE,
    /// Blocks were pinned; numbers: holds, kind, life.
    PIN,
    /// Blocks were removed, leased or not; numbers: holds, force.
    TAKE,
    /// Blocks are removed step by step; numbers: holds, force.
    SWEEP,
    /// What has expired was ended.
    EXPIRE,
    /// The figures were asked for.
    STAT,
    /// The last hold on a slot is gone; numbers: slot.
    SLOT,
    /// A store ended an operation; numbers: store, operation.
    STORE_DONE,
    /// A store failed an operation; numbers: store, operation, and those of the failure; text: failure.
    STORE_FAILED,
    /// A store that was busy has room; numbers: store, operation that it refused.
    STORE_ROOM,
    /// A store wants room; numbers: store, blocks.
    STORE_EVICT,
    /// The health of a store; numbers: store, state; text: problem.
    STORE_HEALTH,
    /// A store found a block damaged; numbers: store.
    STORE_DAMAGED,
    /// The tier was closed.
    SHUT,
    /// The tier asked whether another handle holds a block; numbers: slot, the answer.
    HELD,
    /// The filter of a removal takes a key.
    TAKEN,
    /// A random number was drawn.
    DRAW,
    /// A store had kept a block; numbers: store, 0 with a handle, 1 with a number, 2 damaged.
    RECOVERED,
    /// A store says that a block is damaged; numbers: store.
    NOT_INTACT,
    /// A store has no number for a block; numbers: store.
    NO_NUMBER,
    /// Blocks are written to a store; numbers: store, operation.
    STORE_PUT,
    /// Blocks are read from a store; numbers: store, operation, first granule, count.
    STORE_READ,
    /// A store is closed; numbers: store, operation.
    STORE_SHUT,
    /// The answer to a lease or a read; numbers: bits of hits, found, admitted and awaited.
    LEASED,
    /// A window goes to its reader; numbers: its own flow, positions.
    WINDOW,
    /// A slice goes to its reader; numbers: window, remaining, first granule, granules, first row, blocks; then, if
    /// checksums are told, for each block that of the checksums of these granules, −1 while it is not known.
    SLICE,
    /// Blocks go to their reader; numbers: positions; then, if checksums are told, that of each block.
    BLOCK_LIST,
    /// Room was granted; numbers: slots of the drafts; keys: of the drafts.
    RESERVED,
    /// Blocks were committed; numbers: durability and sequence of each.
    RECEIPTS,
    /// Yes or no for each key; numbers: bits.
    PRESENCE,
    /// The answer for each key.
    OUTCOMES,
    /// A read lease was given; numbers: lease, life, bits of found and leased.
    READ_LEASE,
    /// Another answer in one number.
    ANSWER,
    /// A stream completed.
    ENDED,
    /// A stream failed; text: the error.
    FAILED,
    /// A block became visible; numbers: sequence; text: levels.
    STORED,
    /// Its copies changed; numbers: sequence; text: levels before and after.
    MOVED,
    /// The policy chose it as victim; numbers: sequence; text: levels.
    EVICTED,
    /// A caller removed it; numbers: sequence; text: levels.
    REMOVED,
    /// It was lost; numbers: sequence; text: reason.
    LOST,
    /// A level gives no blocks; numbers: sequence; text: level and reason.
    LEVEL_DOWN,
    /// A level gives blocks again; numbers: sequence; text: level.
    LEVEL_UP,
    /// Events are missing; numbers: how many.
    GAP,
    /// A recording began; numbers: wall clock in milliseconds since 1970; text: versions and configuration as JSON.
    BEGAN,
    /// A named flow was subscribed; numbers: its link, 0 for none; text: name.
    FLOW,
    /// Demand of a named flow; numbers: elements.
    FLOW_REQUEST,
    /// An element of a named flow; numbers, keys and text: as [ElementType] says.
    FLOW_NEXT,
    /// The reader of a named flow left.
    FLOW_CANCEL,
    /// A named flow completed.
    FLOW_COMPLETE,
    /// A named flow failed; text: the error.
    FLOW_ERROR,
    /// A timer ran; text: what it is for.
    TIMER,
    /// A link came up, went down, or carried a message; numbers: link, 0 up, 1 down, 2 sent, 3 received, sequence of
    /// the message in its direction; of a message also its stream, bytes and demand; text: the peer and the own
    /// address, the reason of the end, or the type of the message and its route.
    LINK,
    /// A check found an invariant broken; text: which one, and how.
    BROKEN,
    /// Bytes of a block were kept; numbers: checksum of the block, first byte, bytes, 1 if they were read from a store;
    /// keys: its own. The bytes follow in the file.
    PAYLOAD,
    /// A prefill connector was made; numbers: its times in milliseconds, those of its lease, of patience, of signals,
    /// its tick, and tries of a signal; text: its name.
    REQUESTS,
    /// Blocks of a request are to be kept; numbers: clock; text: request, receivers.
    REQUEST_OPEN,
    /// A signal about a request came; numbers: clock, kind, readers, rank, generation; text: request, instance.
    REQUEST_SIGNAL,
    /// Bytes of a request were sent; numbers: clock; text: request.
    REQUEST_MOVED,
    /// The rank ends a request; numbers: clock; text: request.
    REQUEST_WITHDRAW,
    /// A timer of a request ran; numbers: clock; text: request.
    REQUEST_LOOK,
    /// The memory of a request is free; numbers: clock; text: request.
    REQUEST_FREED,
    /// Whether two hand-overs of a request keep equal blocks; numbers: 1 if they do.
    REQUEST_SAME,
    /// What became of an open, a signal or a withdrawal; numbers: outcome, release or -1; text: request.
    REQUEST_ANSWER,
    /// The blocks of a request were given up; numbers: release; text: request.
    REQUEST_RELEASED,
    /// A client said in which state a session is; numbers: state, then the session.
    SESSION;

    /// Whether it is a *signal*: something that was seen beside the tiers. A signal is a turn of its own, or lies
    /// within one, and no tier is told of it.
    public boolean isSignal() {
      return ordinal() > GAP.ordinal() && !isOfRequest() && this != SESSION;
    }

    /// Whether it is about requests that a prefill rank keeps.
    public boolean isOfRequest() {
      return ordinal() >= REQUESTS.ordinal() && ordinal() <= REQUEST_RELEASED.ordinal();
    }
  }
}
