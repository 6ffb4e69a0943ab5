package io.penstock.node.play;

import static io.penstock.recording.RecordedEvent.Kind.ANSWER;
import static io.penstock.recording.RecordedEvent.Kind.BLOCK_LIST;
import static io.penstock.recording.RecordedEvent.Kind.ENDED;
import static io.penstock.recording.RecordedEvent.Kind.EVICTED;
import static io.penstock.recording.RecordedEvent.Kind.FAILED;
import static io.penstock.recording.RecordedEvent.Kind.FLOW_COMPLETE;
import static io.penstock.recording.RecordedEvent.Kind.FLOW_ERROR;
import static io.penstock.recording.RecordedEvent.Kind.FLOW_NEXT;
import static io.penstock.recording.RecordedEvent.Kind.LEASED;
import static io.penstock.recording.RecordedEvent.Kind.LEVEL_DOWN;
import static io.penstock.recording.RecordedEvent.Kind.LEVEL_UP;
import static io.penstock.recording.RecordedEvent.Kind.LOST;
import static io.penstock.recording.RecordedEvent.Kind.MOVED;
import static io.penstock.recording.RecordedEvent.Kind.OUTCOMES;
import static io.penstock.recording.RecordedEvent.Kind.PRESENCE;
import static io.penstock.recording.RecordedEvent.Kind.READ_LEASE;
import static io.penstock.recording.RecordedEvent.Kind.RECEIPTS;
import static io.penstock.recording.RecordedEvent.Kind.REMOVED;
import static io.penstock.recording.RecordedEvent.Kind.RESERVED;
import static io.penstock.recording.RecordedEvent.Kind.SLICE;
import static io.penstock.recording.RecordedEvent.Kind.STORED;
import static io.penstock.recording.RecordedEvent.Kind.WINDOW;

import io.penstock.recording.EventCodec;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.nio.ByteBuffer;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/// The digests of recordings and of runs. `penstock replay` prints the one of the run, see [#of(Iterator)].
///
/// The digest of a run is SHA-256 in three parts: what each flow was given, what happened in each flow, and what the
/// tiers decided. It keeps 32 bytes for each flow and part. The order of events of unlike flows does not count, and
/// times do not. Each part is a chain: the digest so far and the bytes of the next event make the next digest. The
/// chains of all flows, in the order of the flows' numbers, make one digest.
///
/// A recording that no tier made has no such parts, see [#ofEvents].
public final class RunDigest {
  private static final Set<Kind> OUTPUTS = EnumSet.of(LEASED, WINDOW, SLICE, BLOCK_LIST, RESERVED, RECEIPTS, PRESENCE,
      OUTCOMES, READ_LEASE, ANSWER, ENDED, FAILED, FLOW_NEXT, FLOW_COMPLETE, FLOW_ERROR);
  private static final Set<Kind> DECISIONS =
      EnumSet.of(STORED, MOVED, EVICTED, REMOVED, LOST, LEVEL_DOWN, LEVEL_UP);
  private static final int BYTES = 32;
  /// Kind and flags of an event, before its time.
  private static final int TIME_AT = 2;

  private final MessageDigest sha = sha256();
  private final Map<Long, byte[]> outputs = new HashMap<>();
  private final Map<Long, byte[]> flows = new HashMap<>();
  private final byte[] decisions = new byte[BYTES];
  private ByteBuffer bytes = ByteBuffer.allocate(1 << 12);

  /// The parts, and the digest over them, in hexadecimal.
  record Sums(String sha256, String outputs, String flows, String decisions) {}

  RunDigest() {}

  /// The digest of a run of tiers with these events, in hexadecimal: that of `penstock replay`.
  public static String of(Iterator<RecordedEvent> events) {
    RunDigest digest = new RunDigest();
    events.forEachRemaining(digest::add);
    return digest.sums().sha256();
  }

  /// The digest of all events with their times, in their order, in hexadecimal.
  public static String ofEvents(Iterable<RecordedEvent> events) {
    RunDigest digest = new RunDigest();
    for (RecordedEvent event : events) {
      digest.write(event);
      digest.sha.update(digest.bytes);
    }
    return HexFormat.of().formatHex(digest.sha.digest());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every JDK has it
    }
  }

  void add(RecordedEvent event) {
    boolean decides = DECISIONS.contains(event.kind());
    if (event.flow() == 0 && !decides) {
      return;
    }
    encode(event);
    if (decides) {
      chain(decisions);
    }
    if (event.flow() != 0) {
      chain(flows.computeIfAbsent(event.flow(), flow -> new byte[BYTES]));
      if (OUTPUTS.contains(event.kind())) {
        chain(outputs.computeIfAbsent(event.flow(), flow -> new byte[BYTES]));
      }
    }
  }

  private void encode(RecordedEvent event) {
    write(event);
    if (event.begins()) {
      bytes.putLong(TIME_AT, 0);
    }
  }

  /// Fills [#bytes] with the event.
  private void write(RecordedEvent event) {
    int most = EventCodec.mostBytes(event);
    if (bytes.capacity() < most) {
      bytes = ByteBuffer.allocate(2 * most);
    }
    bytes.clear();
    EventCodec.write(event, bytes);
    bytes.flip();
  }

  private void chain(byte[] digest) {
    sha.update(digest);
    sha.update(bytes.array(), 0, bytes.limit());
    try {
      sha.digest(digest, 0, BYTES);
    } catch (DigestException e) {
      throw new IllegalStateException(e); // there is room
    }
  }

  /// Flows that had an event.
  long flows() {
    return flows.size();
  }

  Sums sums() {
    byte[] given = all(outputs);
    byte[] happened = all(flows);
    sha.update(given);
    sha.update(happened);
    sha.update(decisions);
    HexFormat hex = HexFormat.of();
    return new Sums(hex.formatHex(sha.digest()), hex.formatHex(given), hex.formatHex(happened),
        hex.formatHex(decisions));
  }

  private byte[] all(Map<Long, byte[]> digests) {
    ByteBuffer number = ByteBuffer.allocate(Long.BYTES);
    new TreeMap<>(digests).forEach((flow, digest) -> {
      sha.update(number.putLong(0, flow).array());
      sha.update(digest);
    });
    return sha.digest();
  }

  /// SHA-256 of several runs, in their order.
  static String ofRuns(Iterable<String> runs) {
    MessageDigest all = sha256();
    runs.forEach(run -> all.update(HexFormat.of().parseHex(run)));
    return HexFormat.of().formatHex(all.digest());
  }
}
