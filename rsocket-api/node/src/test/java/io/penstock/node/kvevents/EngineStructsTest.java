package io.penstock.node.kvevents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockHash;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.msgpack.core.MessagePack;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;

/// Batches of each layout decode as the structs of the releases that the manual names for it, field by field: names,
/// order, which may be left out, and which may be nil.
final class EngineStructsTest {
  private static final List<Field> STORED_0_23 = List.of(Field.of("block_hashes"), Field.nullable("parent_block_hash"),
      Field.of("token_ids"), Field.of("block_size"), Field.nullable("lora_id"), Field.nullable("medium"),
      Field.nullable("lora_name"), Field.optional("extra_keys"), Field.optional("group_idx"),
      Field.optional("kv_cache_spec_kind"), Field.optional("kv_cache_spec_sliding_window"));
  private static final List<Field> STORED_0_29 = with(STORED_0_23, "locality");
  private static final List<Field> REMOVED_0_23 =
      List.of(Field.of("block_hashes"), Field.nullable("medium"), Field.optional("group_idx"));
  private static final List<Field> REMOVED_0_29 = with(REMOVED_0_23, "locality");

  /// A field of a struct.
  private record Field(String name, boolean mayBeNil, boolean mayBeMissing) {
    static Field of(String name) {
      return new Field(name, false, false);
    }

    static Field nullable(String name) {
      return new Field(name, true, false);
    }

    static Field optional(String name) {
      return new Field(name, true, true);
    }
  }

  /// Releases and the structs of their events.
  private enum Engine {
    VLLM_0_23_0(KvLayout.ARRAY, STORED_0_23, REMOVED_0_23), VLLM_0_26_0(KvLayout.MAP, STORED_0_23, REMOVED_0_23),
    VLLM_0_29_0(KvLayout.MAP, STORED_0_29, REMOVED_0_29), VLLM_DEVELOPMENT(KvLayout.MAP_BATCH, STORED_0_23,
        REMOVED_0_23);

    private final KvLayout layout;
    private final List<Field> stored;
    private final List<Field> removed;

    Engine(KvLayout layout, List<Field> stored, List<Field> removed) {
      this.layout = layout;
      this.stored = stored;
      this.removed = removed;
    }
  }

  @ParameterizedTest
  @EnumSource(Engine.class)
  void batch_decodesAsTheStructs(Engine engine) throws IOException {
    List<BlockHash> hashes = List.of(new BlockHash(1, 7), new BlockHash(2, -1));
    byte[] packed = new KvEncoder(engine.layout, HashForm.INT, 16, 3).pack(1.5, List.of(
        new KvEvent.BlockStored(hashes, KvMedium.CPU), new KvEvent.BlockRemoved(hashes, KvMedium.STORAGE),
        new KvEvent.AllBlocksCleared()));

    List<Map<String, Value>> events = decoded(engine, packed);

    assertThat(events).hasSize(3);
    assertThat(events.get(0)).containsEntry("type", text("BlockStored"))
        .containsEntry("block_size", ValueFactory.newInteger(16)).containsEntry("medium", text("CPU"))
        .containsEntry("group_idx", ValueFactory.newInteger(3));
    assertThat(events.get(0).get("block_hashes")).hasToString("[7,18446744073709551615]");
    assertThat(events.get(1)).containsEntry("type", text("BlockRemoved")).containsEntry("medium", text("STORAGE"));
    assertThat(events.get(2)).containsOnly(Map.entry("type", text("AllBlocksCleared")));
  }

  @ParameterizedTest
  @EnumSource(Engine.class)
  void batchOfAnotherLayout_doesNotDecode(Engine engine) {
    for (KvLayout other : KvLayout.values()) {
      byte[] packed = new KvEncoder(other, HashForm.INT, 16, 3).pack(1.5, List.of(new KvEvent.AllBlocksCleared()));
      if (other != engine.layout) {
        assertThatThrownBy(() -> decoded(engine, packed))
            .isInstanceOf(RuntimeException.class);
      }
    }
  }

  /// The events of a batch as the engine's own decoder reads them: strict about shapes, required fields and nil.
  private static List<Map<String, Value>> decoded(Engine engine, byte[] packed) throws IOException {
    try (var unpacker = MessagePack.newDefaultUnpacker(packed)) {
      Value batch = unpacker.unpackValue();
      Value events;
      if (engine.layout == KvLayout.MAP_BATCH) {
        Map<String, Value> fields = fields(batch);
        assertThat(fields.get("ts").isFloatValue()).isTrue();
        events = fields.get("events");
      } else {
        assertThat(batch.asArrayValue().get(0).isFloatValue()).isTrue();
        events = batch.asArrayValue().get(1);
      }
      List<Map<String, Value>> all = new ArrayList<>();
      events.asArrayValue().forEach(event -> all.add(event(engine, event)));
      return all;
    }
  }

  private static Map<String, Value> event(Engine engine, Value event) {
    Map<String, Value> fields = new LinkedHashMap<>();
    if (engine.layout == KvLayout.ARRAY) {
      List<Value> values = event.asArrayValue().list();
      fields.put("type", values.getFirst().asStringValue());
      List<Field> struct = struct(engine, values.getFirst().toString());
      for (int i = 1; i < values.size(); i++) {
        fields.put(struct.get(i - 1).name(), values.get(i));
      }
    } else {
      fields.putAll(fields(event));
    }
    for (Field field : struct(engine, fields.get("type").toString())) {
      Value value = fields.get(field.name());
      assertThat(value != null || field.mayBeMissing()).as("%s is there", field.name()).isTrue();
      assertThat(value == null || field.mayBeNil() || !value.isNilValue()).as("%s is not nil", field.name()).isTrue();
    }
    return fields;
  }

  private static List<Field> struct(Engine engine, String type) {
    return switch (type) {
      case "BlockStored" -> engine.stored;
      case "BlockRemoved" -> engine.removed;
      case "AllBlocksCleared" -> List.of();
      default -> throw new IllegalStateException("the engine knows no " + type);
    };
  }

  private static Map<String, Value> fields(Value map) {
    Map<String, Value> fields = new LinkedHashMap<>();
    map.asMapValue().map().forEach((name, value) -> fields.put(name.asStringValue().asString(), value));
    return fields;
  }

  private static List<Field> with(List<Field> fields, String more) {
    List<Field> all = new ArrayList<>(fields);
    all.add(Field.optional(more));
    return List.copyOf(all);
  }

  private static Value text(String text) {
    return ValueFactory.newString(text);
  }
}
