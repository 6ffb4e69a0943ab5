package io.penstock.gateway.events;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/// Reads a batch of KV events: an array `[time, events, rank]` or a map, of events that are arrays or maps. Both
/// layouts are read wherever they stand, fields that are not known are passed over, and optional fields of another type
/// count as left out.
///
/// A message may come from anywhere: counts are compared with the bytes that are left before memory is taken, so a
/// message takes at most memory in proportion to its bytes.
final class EventDecoder {
  private static final int MAX_RANK = 1023;
  private static final int MAX_DEPTH = 4;

  private final MessageUnpacker in;
  private final int length;

  private EventDecoder(MessageUnpacker in, int length) {
    this.in = in;
    this.length = length;
  }

  static EventBatch decode(byte[] payload) throws BadEventException {
    try (MessageUnpacker in = MessagePack.newDefaultUnpacker(payload)) {
      return new EventDecoder(in, payload.length).batch();
    } catch (MessagePackException | IOException e) {
      throw new BadEventException("batch must be MessagePack in vLLM's form (was not: " + e + ")", e);
    }
  }

  private EventBatch batch() throws IOException, BadEventException {
    List<EngineEvent> events = null;
    int rank = 0;
    boolean isMap = in.getNextFormat().getValueType() == ValueType.MAP;
    int fields = isMap ? map() : array();
    for (int i = 0; i < fields; i++) {
      switch (isMap ? in.unpackString() : i == 1 ? "events" : i == 2 ? "data_parallel_rank" : "") {
        case "events" -> events = events();
        case "data_parallel_rank", "attn_dp_rank" -> rank = rank();
        default -> in.skipValue();
      }
    }
    if (events == null) {
      throw new BadEventException("batch must have events (has none)");
    }
    return new EventBatch(events, rank);
  }

  private int rank() throws IOException, BadEventException {
    Long rank = number();
    if (rank != null && (rank < 0 || rank > MAX_RANK)) {
      throw new BadEventException("data-parallel rank must be in [0, %d] (was %d)".formatted(MAX_RANK, rank));
    }
    return rank == null ? 0 : rank.intValue();
  }

  private List<EngineEvent> events() throws IOException, BadEventException {
    int count = array();
    List<EngineEvent> events = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      EventFields fields = new EventFields();
      if (in.getNextFormat().getValueType() == ValueType.MAP) {
        int size = map();
        for (int j = 0; j < size; j++) {
          field(in.unpackString(), fields);
        }
      } else {
        arrayEvent(fields);
      }
      events.add(fields.event());
    }
    return events;
  }

  private void arrayEvent(EventFields fields) throws IOException, BadEventException {
    int size = array();
    for (int i = 0; i < size; i++) {
      if (i == 0) {
        fields.type = in.unpackString();
        continue;
      }
      List<String> names = "BlockStored".equals(fields.type)
          ? EventFields.STORED
          : "BlockRemoved".equals(fields.type) ? EventFields.REMOVED : List.of();
      field(i <= names.size() ? names.get(i - 1) : "", fields);
    }
  }

  private void field(String name, EventFields fields) throws IOException, BadEventException {
    switch (name) {
      case "type" -> fields.type = in.unpackString();
      case "block_hashes" -> fields.hashes = hashes();
      case "parent_block_hash" -> fields.parent = in.tryUnpackNil() ? null : hash();
      case "token_ids" -> fields.tokens = in.tryUnpackNil() ? fields.tokens : tokens();
      case "block_size" -> fields.blockTokens = in.tryUnpackNil() ? 0 : in.unpackInt();
      case "lora_id" -> fields.adapterNumber = number();
      case "lora_name" -> fields.adapter = text();
      case "medium" -> fields.medium = text();
      case "locality" -> fields.locality = text();
      case "cache_salt" -> fields.salt = text();
      case "kv_cache_spec_kind" -> fields.kind = text();
      case "kv_cache_spec_sliding_window" -> fields.window = number();
      case "group_idx" -> {
        Long group = number();
        fields.group = group == null ? null : Math.toIntExact(Math.clamp(group, -1, Integer.MAX_VALUE));
      }
      case "extra_keys" -> fields.extras = extras();
      default -> in.skipValue();
    }
  }

  private long[] hashes() throws IOException, BadEventException {
    long[] hashes = new long[array()];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = hash();
    }
    return hashes;
  }

  private long hash() throws IOException, BadEventException {
    MessageFormat format = in.getNextFormat();
    if (format == MessageFormat.UINT64) {
      return in.unpackBigInteger().longValue();
    }
    if (format.getValueType() == ValueType.INTEGER) {
      return in.unpackLong();
    }
    byte[] bytes = bytes();
    if (bytes.length < Long.BYTES) {
      throw new BadEventException("block hash must have at least 8 bytes (was " + bytes.length + ")");
    }
    return ByteBuffer.wrap(bytes).getLong(bytes.length - Long.BYTES);
  }

  private byte[] bytes() throws IOException, BadEventException {
    return in.readPayload(within(in.unpackBinaryHeader()));
  }

  /// Token ids. Where the engine drafts by pairs of tokens, the first of each pair is the token of its place.
  private int[] tokens() throws IOException, BadEventException {
    int[] tokens = new int[array()];
    for (int i = 0; i < tokens.length; i++) {
      if (in.getNextFormat().getValueType() == ValueType.ARRAY) {
        int size = array();
        if (size == 0) {
          throw new BadEventException("pair of tokens must not be empty");
        }
        tokens[i] = in.unpackInt();
        in.skipValue(size - 1);
      } else {
        tokens[i] = in.unpackInt();
      }
    }
    return tokens;
  }

  private @Nullable List<List<String>> extras() throws IOException, BadEventException {
    if (in.getNextFormat().getValueType() != ValueType.ARRAY) {
      in.skipValue();
      return null;
    }
    int blocks = array();
    List<List<String>> extras = new ArrayList<>();
    for (int i = 0; i < blocks; i++) {
      List<String> texts = new ArrayList<>();
      texts(texts, 0);
      extras.add(texts);
    }
    return extras;
  }

  /// Collects the texts, numbers and bytes of a value, however they are nested.
  private void texts(List<String> to, int depth) throws IOException, BadEventException {
    if (depth > MAX_DEPTH) {
      throw new BadEventException("extra_keys must be nested at most " + MAX_DEPTH + " deep");
    }
    switch (in.getNextFormat().getValueType()) {
      case NIL -> in.unpackNil();
      case STRING -> to.add(in.unpackString());
      case BINARY -> to.add(new String(bytes(), StandardCharsets.ISO_8859_1));
      case INTEGER -> to.add(in.unpackBigInteger().toString());
      case ARRAY -> {
        int size = array();
        for (int i = 0; i < size; i++) {
          texts(to, depth + 1);
        }
      }
      default -> {
        in.skipValue();
        to.add("?"); // the block still differs from one without extra keys
      }
    }
  }

  private @Nullable String text() throws IOException {
    if (in.getNextFormat().getValueType() == ValueType.STRING) {
      return in.unpackString();
    }
    in.skipValue();
    return null;
  }

  private @Nullable Long number() throws IOException {
    MessageFormat format = in.getNextFormat();
    if (format.getValueType() == ValueType.INTEGER && format != MessageFormat.UINT64) {
      return in.unpackLong();
    }
    in.skipValue();
    return null;
  }

  private int array() throws IOException, BadEventException {
    return within(in.unpackArrayHeader());
  }

  private int map() throws IOException, BadEventException {
    return within(in.unpackMapHeader());
  }

  /// Each element takes a byte and more.
  private int within(int count) throws BadEventException {
    if (count < 0 || count > length - in.getTotalReadBytes()) {
      throw new BadEventException("count of elements must be within the message of %d bytes (was %d)".formatted(length,
          count));
    }
    return count;
  }
}
