package io.penstock.node.kvevents;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.msgpack.core.MessagePack;
import org.msgpack.value.ArrayValue;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;

/// A consumer as a router has one: it subscribes, notices gaps, has them replayed, and keeps the media of each block.
/// It reads all layouts and ignores types that it does not know. One thread.
public final class KvIndex implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 20;
  /// For an answer that must come.
  private static final int LONG_MILLIS = 60_000;

  private final ZMQ.Context context = ZMQ.context(1);
  private final ZMQ.Socket events = context.socket(SocketType.SUB);
  private final ZMQ.Socket replay = context.socket(SocketType.DEALER);
  private final Map<Long, Set<String>> media = new HashMap<>();
  /// Parent and token ids of the newest event about each block, as `parent [ids]`.
  private final Map<Long, String> tokens = new HashMap<>();
  private long next;
  private int replays;
  private int cleared;

  public KvIndex(int port, int replayPort, String topic) {
    events.subscribe(topic);
    events.setReceiveTimeOut(PATIENCE_MILLIS);
    events.setLinger(0);
    events.connect("tcp://127.0.0.1:" + port);
    replay.setReceiveTimeOut(LONG_MILLIS);
    replay.setLinger(0);
    replay.connect("tcp://127.0.0.1:" + replayPort);
  }

  /// Applies what comes until nothing does for a short time.
  ///
  /// @param loses how many of the messages that come to lose, as a socket does whose queue is full
  public void read(int loses) {
    int lost = 0;
    byte[] topic = events.recv();
    while (topic != null) {
      long sequence = ByteBuffer.wrap(events.recv()).getLong();
      byte[] payload = events.recv();
      if (lost++ >= loses) {
        if (sequence > next) {
          replay();
        }
        apply(sequence, payload);
      }
      topic = events.recv();
    }
  }

  /// Asks for everything from the next batch on.
  public void replay() {
    replays++;
    replay.sendMore(new byte[0]);
    replay.send(ByteBuffer.allocate(Long.BYTES).putLong(next).array());
    while (true) {
      if (replay.recv().length != 0) {
        throw new AssertionError("an answer must begin with an empty frame");
      }
      long sequence = ByteBuffer.wrap(replay.recv()).getLong();
      byte[] payload = replay.recv();
      if (sequence == -1) {
        if (payload.length != 0) {
          throw new AssertionError("the end must have no payload (was " + payload.length + " bytes)");
        }
        return;
      }
      apply(sequence, payload);
    }
  }

  private void apply(long sequence, byte[] payload) {
    if (sequence >= next) {
      next = sequence + 1;
      apply(payload);
    }
  }

  /// Applies one batch.
  void apply(byte[] payload) {
    try (var unpacker = MessagePack.newDefaultUnpacker(payload)) {
      Value unpacked = unpacker.unpackValue();
      if (unpacked.isMapValue()) {
        unpacked.asMapValue().map().get(ValueFactory.newString("events")).asArrayValue().forEach(this::apply);
        return;
      }
      ArrayValue batch = unpacked.asArrayValue();
      if (batch.size() != 3 || !batch.get(0).isFloatValue() || !batch.get(2).isNilValue()) {
        throw new AssertionError("a batch must be [time, events, nil] (was " + batch + ")");
      }
      batch.get(1).asArrayValue().forEach(this::apply);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void apply(Value event) {
    if (event.isArrayValue()) {
      List<Value> fields = event.asArrayValue().list();
      String type = fields.getFirst().asStringValue().asString();
      Value hashes = fields.size() > 1 ? fields.get(1) : ValueFactory.emptyArray();
      if (type.equals("BlockStored")) {
        stored(hashes, fields.get(2), fields.get(3), fields.get(4));
      }
      apply(type, hashes, type.equals("BlockStored") ? fields.get(6) : fields.size() > 2 ? fields.get(2) : hashes);
    } else {
      Map<Value, Value> fields = event.asMapValue().map();
      if (fields.get(ValueFactory.newString("type")).toString().equals("BlockStored")) {
        stored(fields.get(ValueFactory.newString("block_hashes")),
            fields.get(ValueFactory.newString("parent_block_hash")), fields.get(ValueFactory.newString("token_ids")),
            fields.get(ValueFactory.newString("block_size")));
      }
      apply(fields.get(ValueFactory.newString("type")).asStringValue().asString(),
          fields.getOrDefault(ValueFactory.newString("block_hashes"), ValueFactory.emptyArray()),
          fields.getOrDefault(ValueFactory.newString("medium"), ValueFactory.newNil()));
    }
  }

  /// Cuts the tokens of an event into blocks, as a router does: each block is the parent of the next.
  private void stored(Value hashes, Value parent, Value ids, Value size) {
    List<Value> all = ids.asArrayValue().list();
    int each = size.asIntegerValue().asInt();
    Value before = parent;
    int from = 0;
    for (Value hash : hashes.asArrayValue()) {
      int to = Math.min(from + each, all.size());
      tokens.put(low(hash), all.isEmpty() ? before + " []" : low(before) + " " + all.subList(from, to));
      before = all.isEmpty() ? parent : hash;
      from = to;
    }
    if (from != all.size()) {
      throw new AssertionError("token_ids must be block_size for each hash (was " + all.size() + ")");
    }
  }

  private void apply(String type, Value hashes, Value medium) {
    switch (type) {
      case "BlockStored" -> hashes.asArrayValue()
          .forEach(hash -> media.computeIfAbsent(low(hash), key -> new HashSet<>()).add(medium.toString()));
      case "BlockRemoved" -> hashes.asArrayValue().forEach(hash -> media.computeIfPresent(low(hash), (key, known) -> {
        known.remove(medium.toString());
        return known.isEmpty() ? null : known;
      }));
      case "AllBlocksCleared" -> {
        media.clear();
        cleared++;
      }
      default -> {
      } // of a newer release
    }
  }

  private static long low(Value hash) {
    if (hash.isNilValue()) {
      return 0;
    }
    return hash.isIntegerValue()
        ? new BigInteger(hash.toString()).longValue()
        : ByteBuffer.wrap(hash.asBinaryValue().asByteArray()).getLong(Long.BYTES);
  }

  /// The media of each block, by the low 64 bits of its hash.
  public Map<Long, Set<String>> media() {
    return Map.copyOf(media);
  }

  /// Parent and token ids by the low 64 bits of a block's hash, as `parent [ids]`; parent 0 is none, and `null []` a
  /// block without tokens.
  public Map<Long, String> tokens() {
    return Map.copyOf(tokens);
  }

  int replays() {
    return replays;
  }

  int cleared() {
    return cleared;
  }

  @Override
  public void close() {
    events.close();
    replay.close();
    context.close();
  }
}
