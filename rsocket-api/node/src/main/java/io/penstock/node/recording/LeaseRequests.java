package io.penstock.node.recording;

import io.penstock.block.BlockKey;
import io.penstock.node.play.RecordedBits;
import io.penstock.node.trace.TraceRequest;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The requests of one tier of a recording: its leases, in the order of its decisions. Reads the events in order.
///
/// A hash becomes the number of its first appearance, from 0. A request continues a session if the last hash of a
/// request before it is among its hashes: each hash stands for all blocks before it, too.
final class LeaseRequests {
  private final int tier;
  private final int blockTokens;
  private final Map<BlockKey, Long> ids = new HashMap<>();
  /// Sessions by the last key of their newest request.
  private final Map<BlockKey, Long> sessions = new HashMap<>();
  private final Map<Long, Integer> asked = new HashMap<>();
  private long first = -1;
  private long requests;
  private long blocks;
  private long hits;
  private long newSessions;

  /// @param session that it continues or begins, from 0
  record Request(TraceRequest request, long session) {}

  /// @param blockTokens tokens of a block in the form of the trace
  LeaseRequests(int tier, int blockTokens) {
    this.tier = tier;
    this.blockTokens = blockTokens;
  }

  /// The request that begins with `event`; null if none does.
  @Nullable Request of(RecordedEvent event) {
    if (event.tier() != tier) {
      return null;
    }
    if (event.kind() == Kind.LEASED) {
      answered(event);
      return null;
    }
    if ((event.kind() != Kind.LEASE && event.kind() != Kind.READ) || event.keys().isEmpty()) {
      return null;
    }
    List<BlockKey> keys = event.keys();
    first = first < 0 ? event.at() : first;
    asked.put(event.flow(), keys.size());
    requests++;
    blocks += keys.size();
    List<Long> numbers = new ArrayList<>(keys.size());
    for (BlockKey key : keys) {
      numbers.add(ids.computeIfAbsent(key, each -> (long) ids.size()));
    }
    return new Request(new TraceRequest(TimeUnit.NANOSECONDS.toMillis(event.at() - first),
        (long) keys.size() * blockTokens, 0, numbers), session(keys));
  }

  private void answered(RecordedEvent event) {
    Integer size = asked.remove(event.flow());
    RecordedBits bits = RecordedBits.of(event, 0);
    for (int i = 0; size != null && i < size; i++) {
      hits += bits.has(RecordedBits.HITS, i) ? 1 : 0;
    }
  }

  private long session(List<BlockKey> keys) {
    Long session = null;
    for (int i = keys.size() - 1; session == null && i >= 0; i--) {
      session = sessions.remove(keys.get(i));
    }
    long known = session == null ? newSessions++ : session;
    sessions.put(keys.getLast(), known);
    return known;
  }

  long requests() {
    return requests;
  }

  /// Blocks that the requests asked for.
  long blocks() {
    return blocks;
  }

  /// Blocks that the tier answered as hits.
  long hits() {
    return hits;
  }
}
