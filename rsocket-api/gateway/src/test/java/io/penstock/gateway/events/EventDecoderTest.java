package io.penstock.gateway.events;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.gateway.choice.Medium;
import io.penstock.gateway.choice.PromptBlocks;
import io.penstock.gateway.events.EngineEvent.Group;
import io.penstock.gateway.events.EngineEvent.Removed;
import io.penstock.gateway.events.EngineEvent.Stored;
import io.penstock.gateway.events.PackedEvents.Hash;
import io.penstock.gateway.events.PackedEvents.Layout;
import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

final class EventDecoderTest {
  private static final long[] HASHES = {7, -1, Long.MIN_VALUE};
  private static final PackedEvents MAPS = new PackedEvents(Layout.MAP, Hash.UNSIGNED);

  static Stream<Arguments> forms() {
    return Arrays.stream(Layout.values())
        .flatMap(layout -> Arrays.stream(Hash.values()).map(hash -> Arguments.of(layout, hash)));
  }

  private static Stored stored(PackedEvents form, PackedEvents.Event event) throws BadEventException {
    return (Stored) EventDecoder.decode(form.batch(null, event)).events().getFirst();
  }

  @ParameterizedTest
  @MethodSource("forms")
  void everyForm_isRead(Layout layout, Hash hash) throws BadEventException {
    PackedEvents form = new PackedEvents(layout, hash);
    EventBatch batch = EventDecoder.decode(form.batch(3,
        PackedEvents.stored(-2L, HASHES, new int[] {1, 2, 3, 4, 5, 151_643}, 2, "CPU"),
        PackedEvents.removed(HASHES, "GPU"), PackedEvents.cleared(),
        new PackedEvents.Event(Map.of("type", "BlockPinned")).with("x", List.of(1, "y"))));

    assertThat(batch.rank()).isEqualTo(3);
    assertThat(batch.events()).hasSize(4);
    Stored stored = (Stored) batch.events().getFirst();
    assertThat(stored.hashes()).containsExactly(HASHES);
    assertThat(stored.parent()).isEqualTo(-2L);
    assertThat(stored.tokens()).containsExactly(1, 2, 3, 4, 5, 151_643);
    assertThat(stored.blockTokens()).isEqualTo(2);
    assertThat(stored.medium()).isEqualTo(Medium.HOST);
    assertThat(stored.root()).isEqualTo(PromptBlocks.ROOT);
    assertThat(stored.isAligned()).isTrue();
    Removed removed = (Removed) batch.events().get(1);
    assertThat(removed.hashes()).containsExactly(HASHES);
    assertThat(removed.medium()).isEqualTo(Medium.DEVICE);
    assertThat(batch.events().get(2)).isEqualTo(new EngineEvent.Cleared());
    assertThat(batch.events().get(3)).isEqualTo(new EngineEvent.Unknown());
  }

  /// Bytes of an event that vLLM 0.23 sent: written out here, so that encoder and decoder cannot err alike.
  @Test
  void arrayOfAnOldRelease_isRead() throws BadEventException {
    byte[] batch = HexFormat.of().parseHex("93" + "cb41d9d0c5a0000000" // [1732318848.0, …
        + "91" + "96" + "ab426c6f636b53746f726564" // [["BlockStored", …
        + "91" + "cfffffffffffffffff" + "c0" + "92" + "01" + "cd0102" + "02" + "c0" // [2^64-1], nil, [1, 258], 2, nil]]
        + "c0");
    Stored stored = (Stored) EventDecoder.decode(batch).events().getFirst();
    assertThat(stored.hashes()).containsExactly(-1L);
    assertThat(stored.tokens()).containsExactly(1, 258);
    assertThat(stored.medium()).as("a release before media").isEqualTo(Medium.DEVICE);
    assertThat(stored.group()).isEqualTo(new Group(null, false));
  }

  @ParameterizedTest
  @CsvSource(nullValues = "-", value = {"GPU, -, DEVICE", "-, -, DEVICE", "CPU, LOCAL, HOST", "CPU_PINNED, -, HOST",
    "CPU, REMOTE, STORAGE", "STORAGE, -, STORAGE", "DISK, -, STORAGE", "EXTERNAL, -, STORAGE", "TAPE, -, -"})
  void media(@Nullable String medium, @Nullable String locality,
      @Nullable Medium expected) throws BadEventException {
    PackedEvents.Event event =
        PackedEvents.stored(null, new long[] {1}, new int[] {1}, 1, medium).with("locality", locality);
    for (Layout layout : Layout.values()) {
      assertThat(stored(new PackedEvents(layout, Hash.SIGNED), event).medium()).isEqualTo(expected);
    }
  }

  @Test
  void adapterAndSalt_areInTheRoot_otherExtrasWithTheirBlock() throws BadEventException {
    PackedEvents.Event event = PackedEvents.stored(null, new long[] {1, 2}, new int[] {1, 2}, 1, "GPU");
    Stored adapter = stored(MAPS, event.with("lora_name", "sql").with("extra_keys",
        List.of(List.of("sql"), List.of("sql", List.of("image", 5)))));
    assertThat(adapter.root()).isEqualTo(PromptBlocks.root("sql", null));
    assertThat(adapter.extra(0)).isNull();
    assertThat(adapter.extra(1)).isEqualTo("image\n5");
    assertThat(adapter.extra(2)).isNull();
    Stored salted = stored(MAPS, event.with("cache_salt", "tenant"));
    assertThat(salted.root()).isEqualTo(PromptBlocks.root(null, "tenant"));
    assertThat(stored(MAPS, event.with("lora_id", 4)).root()).isEqualTo(PromptBlocks.root("4", null));
  }

  @Test
  void pairsOfTokens_countByTheirFirst() throws BadEventException {
    Stored stored = stored(MAPS, PackedEvents.stored(null, new long[] {1}, new int[0], 3, "GPU").with("token_ids",
        List.of(List.of(5, 6), List.of(6, 7), List.of(7, 8))));
    assertThat(stored.tokens()).containsExactly(5, 6, 7);
  }

  @Test
  void groupsThatKeepAPart_areKnown() throws BadEventException {
    PackedEvents.Event event = PackedEvents.stored(null, new long[] {1}, new int[] {1}, 1, "GPU").with("group_idx", 2);
    assertThat(stored(MAPS, event).group()).isEqualTo(new Group(2, false));
    assertThat(stored(MAPS, event.with("kv_cache_spec_kind", "full_attention")).group()).isEqualTo(new Group(2, false));
    assertThat(stored(MAPS, event.with("kv_cache_spec_kind", "sliding_window")).group()).isEqualTo(new Group(2, true));
    assertThat(stored(MAPS, event.with("kv_cache_spec_sliding_window", 4096)).group()).isEqualTo(new Group(2, true));
  }

  /// Counts that the message is too short for must not become memory.
  @ParameterizedTest
  @ValueSource(strings = {"", "c0", "01", "93", "80", "92c0dd7fffffff", "dd7fffffff", "df7fffffff", "ddffffffff",
    "81a66576656e7473dd7ffffff0", "92c09181a474797065ab426c6f636b53746f726564",
    "92c09192ab426c6f636b53746f726564dd7fffffff", "92c09192ab426c6f636b53746f72656491c67fffffff",
    "92c09192ab426c6f636b53746f72656491c40101", "92c09192ab426c6f636b53746f72656491cb3ff0000000000000",
    "92c091810102", "92c091c0", "93c090cd7fff", "92c09194ab426c6f636b53746f7265649101c091ce80000000"})
  void damagedMessages_areRefused(String hex) {
    assertThatThrownBy(() -> EventDecoder.decode(HexFormat.of().parseHex(hex))).isInstanceOf(BadEventException.class);
  }

  @Test
  void deepNesting_isRefused() throws IOException {
    try (MessageBufferPacker to = MessagePack.newDefaultBufferPacker()) {
      to.packArrayHeader(2).packNil().packArrayHeader(1).packMapHeader(3).packString("type").packString("BlockStored")
          .packString("block_hashes").packArrayHeader(0).packString("extra_keys").packArrayHeader(1);
      for (int i = 0; i < 100_000; i++) {
        to.packArrayHeader(1);
      }
      to.packNil();
      byte[] batch = to.toByteArray();
      assertThatThrownBy(() -> EventDecoder.decode(batch)).isInstanceOf(BadEventException.class)
          .hasMessageContaining("nested at most 4 deep");
    }
  }

  @ParameterizedTest
  @MethodSource("forms")
  void bytesThatChanged_areReadOrRefused_neverMore(Layout layout, Hash hash) {
    Random random = new Random(layout.ordinal() * 3 + hash.ordinal());
    byte[] whole = new PackedEvents(layout, hash).batch(1,
        PackedEvents.stored(-2L, HASHES, new int[] {1, 2, 3, 4, 5, 6}, 2, "CPU").with("extra_keys",
            List.of(List.of("a"), List.of(), List.of("b", 3))),
        PackedEvents.removed(HASHES, "GPU"), PackedEvents.cleared());
    int refused = 0;
    for (int i = 0; i < 600; i++) {
      byte[] changed = Arrays.copyOf(whole, random.nextInt(4) == 0 ? random.nextInt(whole.length) : whole.length);
      for (int j = random.nextInt(3); j >= 0 && changed.length > 0; j--) {
        changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);
      }
      try {
        assertThat(requireNonNull(EventDecoder.decode(changed)).rank()).isBetween(0, 1023);
      } catch (BadEventException e) {
        refused++;
        assertThat(e).hasMessageContaining("must");
      }
    }
    assertThat(refused).isGreaterThan(75);
  }
}
