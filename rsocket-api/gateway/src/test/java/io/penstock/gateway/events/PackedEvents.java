package io.penstock.gateway.events;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/// Packs batches as engines do.
record PackedEvents(Layout layout, Hash hash) {
  /// Layouts of a batch and of its events.
  enum Layout {
    ARRAY, MAP, MAP_BATCH
  }

  /// Forms of a hash.
  enum Hash {
    UNSIGNED, SIGNED, BYTES
  }

  /// An event: its fields in the order of vLLM's classes, the type first.
  record Event(Map<String, @Nullable Object> fields) {
    Event with(String name, @Nullable Object value) {
      Map<String, @Nullable Object> more = new LinkedHashMap<>(fields);
      more.put(name, value);
      return new Event(more);
    }
  }

  static Event stored(@Nullable Long parent, long[] hashes, int[] tokens, int blockTokens, @Nullable String medium) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("type", "BlockStored");
    fields.put("block_hashes", hashes);
    fields.put("parent_block_hash", parent);
    fields.put("token_ids", tokens);
    fields.put("block_size", blockTokens);
    fields.put("lora_id", null);
    fields.put("medium", medium);
    fields.put("lora_name", null);
    fields.put("extra_keys", null);
    fields.put("group_idx", null);
    fields.put("kv_cache_spec_kind", null);
    fields.put("kv_cache_spec_sliding_window", null);
    fields.put("locality", null);
    return new Event(fields);
  }

  static Event removed(long[] hashes, @Nullable String medium) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("type", "BlockRemoved");
    fields.put("block_hashes", hashes);
    fields.put("medium", medium);
    fields.put("group_idx", null);
    fields.put("locality", null);
    return new Event(fields);
  }

  static Event cleared() {
    return new Event(Map.of("type", "AllBlocksCleared"));
  }

  byte[] batch(@Nullable Integer rank, Event... events) {
    return batch(rank, List.of(events));
  }

  byte[] batch(@Nullable Integer rank, List<Event> events) {
    try (MessageBufferPacker to = MessagePack.newDefaultBufferPacker()) {
      if (layout == Layout.MAP_BATCH) {
        to.packMapHeader(rank == null ? 2 : 3).packString("ts").packDouble(1.5);
        if (rank != null) {
          to.packString("data_parallel_rank").packInt(rank);
        }
        to.packString("events");
      } else {
        to.packArrayHeader(3).packDouble(1.5);
      }
      to.packArrayHeader(events.size());
      for (Event event : events) {
        pack(event, to);
      }
      if (layout != Layout.MAP_BATCH) {
        value(rank, to);
      }
      return to.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // memory does not fail
    }
  }

  private void pack(Event event, MessageBufferPacker to) throws IOException {
    if (layout == Layout.ARRAY) {
      List<@Nullable Object> values = new ArrayList<>(event.fields().values());
      to.packArrayHeader(values.size());
      for (Object value : values) {
        value(value, to);
      }
    } else {
      Map<String, Object> there = new LinkedHashMap<>();
      event.fields().forEach((name, value) -> {
        if (value != null) {
          there.put(name, value);
        }
      });
      to.packMapHeader(there.size());
      for (Map.Entry<String, Object> field : there.entrySet()) {
        to.packString(field.getKey());
        value(field.getValue(), to);
      }
    }
  }

  private void value(@Nullable Object value, MessageBufferPacker to) throws IOException {
    switch (value) {
      case null -> to.packNil();
      case String text -> to.packString(text);
      case Integer number -> to.packInt(number);
      case Long number -> hash(number, to);
      case long[] hashes -> {
        to.packArrayHeader(hashes.length);
        for (long each : hashes) {
          hash(each, to);
        }
      }
      case int[] tokens -> values(Arrays.stream(tokens).boxed().toList(), to);
      case List<?> list -> values(list, to);
      default -> throw new IllegalStateException("no form for " + value);
    }
  }

  private void values(List<?> list, MessageBufferPacker to) throws IOException {
    to.packArrayHeader(list.size());
    for (Object each : list) {
      value(each, to);
    }
  }

  private void hash(long value, MessageBufferPacker to) throws IOException {
    switch (hash) {
      case BYTES -> {
        byte[] digest = ByteBuffer.allocate(32).putLong(value * 31).putLong(7).putLong(-value).putLong(value).array();
        to.packBinaryHeader(digest.length).writePayload(digest);
      }
      case SIGNED -> to.packLong(value);
      case UNSIGNED -> to.packBigInteger(new BigInteger(Long.toUnsignedString(value)));
    }
  }
}
