package io.penstock.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane.ElementType;
import io.penstock.testkit.Blocks;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Keys, hashes and spaces: one encoding, and hashes that another implementation computes alike.
final class KeyTest {
  private static final BlockKey KEY = new BlockKey(
      new SpaceId(0x0102030405060708L, 0x090A0B0C0D0E0F10L), new BlockHash(0x1112131415161718L, 0x999A9B9C9D9E9FFEL));
  private static final String HEX = "0102030405060708090a0b0c0d0e0f10" + "1112131415161718999a9b9c9d9e9ffe";

  @Test
  void write_isSpaceThenHashBigEndian_whateverTheBuffersOrder() {
    for (ByteOrder order : List.of(ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN)) {
      ByteBuffer buffer = ByteBuffer.allocate(BlockKey.BYTES + 3).order(order).position(3);
      KEY.write(buffer);
      assertThat(HexFormat.of().formatHex(buffer.array(), 3, buffer.position())).isEqualTo(HEX);
      assertThat(buffer.order()).isEqualTo(order);
      assertThat(BlockKey.read(buffer.position(3))).isEqualTo(KEY);
      assertThat(buffer.remaining()).isZero();
    }
  }

  @Test
  void list_readsHashesInOrder_andIsWhatDistinctTakes() {
    List<BlockKey> keys = Blocks.keys(Blocks.smallSpace(), 0, 1000);
    ByteBuffer hashes = ByteBuffer.allocate(1000 * BlockHash.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    keys.forEach(key -> key.hash().write(hashes));
    SpaceId space = Blocks.smallSpace().id();

    List<BlockKey> list = BlockKey.list(space, hashes.flip());

    assertThat(list).isEqualTo(keys);
    assertThat(BlockKey.distinct(list, space)).isSameAs(list);
    assertThat(BlockKey.distinct(keys.subList(3, 5), space)).isEqualTo(list.subList(3, 5));
    assertThatThrownBy(() -> BlockKey.distinct(list, new SpaceId(0, 0))).hasMessageContaining("must be of space");
    assertThatThrownBy(() -> BlockKey.list(space, ByteBuffer.allocate(17))).hasMessageContaining("multiple of 16");
  }

  @Test
  void distinct_refusesAKeyThatComesTwice_whereverItIs() {
    List<BlockKey> keys = new ArrayList<>(Blocks.keys(Blocks.smallSpace(), 0, 300));
    SpaceId space = Blocks.smallSpace().id();
    for (int at : new int[] {1, 150, 299}) {
      BlockKey before = keys.set(at, keys.getFirst());
      assertThatThrownBy(() -> BlockKey.distinct(keys, space)).hasMessageContaining("must be distinct");
      ByteBuffer hashes = ByteBuffer.allocate(300 * BlockHash.BYTES);
      keys.forEach(key -> key.hash().write(hashes));
      List<BlockKey> packed = BlockKey.list(space, hashes.flip());
      assertThatThrownBy(() -> BlockKey.distinct(packed, space)).hasMessageContaining("was 300 keys with duplicates");
      keys.set(at, before);
    }
    assertThat(BlockKey.distinct(keys, space)).isEqualTo(keys);
    assertThat(BlockKey.distinct(List.of(), space)).isEmpty();
  }

  @Test
  void parse_readsWhatToStringWrites() {
    assertThat(KEY).hasToString(HEX.substring(0, 32) + ":" + HEX.substring(32));
    assertThat(BlockKey.parse(KEY.toString())).isEqualTo(KEY);
    assertThat(BlockKey.parse(KEY.toString().toUpperCase(java.util.Locale.ROOT))).isEqualTo(KEY);
    assertThat(BlockHash.parse(BlockHash.ROOT.toString())).isEqualTo(BlockHash.ROOT);
  }

  @Test
  void parse_ofAnythingElse_isRefusedWithTheRule() {
    assertThatThrownBy(() -> BlockKey.parse(HEX)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("SPACE:HASH");
    assertThatThrownBy(() -> BlockHash.parse("00")).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("32 hex digits");
    assertThatThrownBy(() -> SpaceId.parse("zz".repeat(16))).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void difference_namesTheFirstFieldThatDiffers_andNeverTheSalt() {
    CacheSpace here = Blocks.smallSpace();
    BlockLayout layout = here.layout();
    assertThat(here.difference(Blocks.smallSpace())).isEmpty();
    assertThat(here.difference(CacheSpace.of("other", layout)))
        .hasValue(new CacheSpace.Difference("model", "fixture", "other"));
    assertThat(here.difference(CacheSpace.of("fixture", layout.withOrder(TokenOrder.HND))))
        .hasValue(new CacheSpace.Difference("layout.order", "NHD", "HND"));
    assertThat(here.difference(CacheSpace.of("fixture", BlockLayout.attention(3, 4, 2, 4, ElementType.BF16))))
        .hasValue(new CacheSpace.Difference("layout.layers", 2, 3));
    assertThat(here.difference(CacheSpace.of("fixture", BlockLayout.attention(2, 5, 2, 4, ElementType.BF16))))
        .hasValue(new CacheSpace.Difference("layout.tokens", 4, 5));
    assertThat(
        here.difference(CacheSpace.of("fixture", BlockLayout.attention(2, 4, 2, 4, ElementType.FP16))).orElseThrow())
        .asString().startsWith("layout.planes: ");
    assertThat(here.difference(new CacheSpace("fixture", layout, 1, "")))
        .hasValue(new CacheSpace.Difference("group", 0, 1));
    assertThat(here.difference(new CacheSpace("fixture", layout, 0, "secret")).orElseThrow()).asString()
        .startsWith("tenantSalt")
        .doesNotContain("secret");
  }

  static Stream<List<String>> prefixVectors() {
    return Vectors.read("prefix-vectors.tsv").stream();
  }

  @ParameterizedTest
  @MethodSource("prefixVectors")
  void prefixHasher_agreesWithTheVectors(List<String> row) {
    switch (row.getFirst()) {
      case "next" -> {
        int[] tokens = row.get(2).isEmpty()
            ? new int[0]
            : Arrays.stream(row.get(2).split(",")).mapToInt(Integer::parseInt).toArray();
        List<String> extra = row.get(3).isEmpty()
            ? List.of()
            : Arrays.stream(row.get(3).split("\\|")).map(quoted -> quoted.substring(1, quoted.length() - 1)).toList();
        assertThat(new PrefixHasher(extra).next(BlockHash.parse(row.get(1)), tokens)).hasToString(row.get(4));
      }
      case "trace" -> assertThat(PrefixHasher.ofTraceId(Long.parseLong(row.get(1)))).hasToString(row.get(2));
      case "value" -> assertThat(PrefixHasher.ofName(row.get(1))).hasToString(row.get(2));
      case "part" -> assertThat(PrefixHasher.ofPart(PrefixHasher.ofName(row.get(1)), BlockHash.parse(row.get(2)),
          Integer.parseInt(row.get(3)))).hasToString(row.get(4));
      default -> throw new AssertionError("unknown vector " + row);
    }
  }

  static Stream<List<String>> spaceVectors() {
    return Vectors.read("space-vectors.tsv").stream();
  }

  @ParameterizedTest
  @MethodSource("spaceVectors")
  void spaceId_agreesWithTheVectors(List<String> row) {
    List<Plane> planes = Arrays.stream(row.get(4).split(",")).map(text -> text.split("/"))
        .map(part -> new Plane(Plane.Kind.valueOf(part[0]), ElementType.valueOf(part[1]), Integer.parseInt(part[2]),
            Integer.parseInt(part[3])))
        .toList();
    BlockLayout layout = new BlockLayout(Integer.parseInt(row.get(1)), Integer.parseInt(row.get(2)),
        TokenOrder.valueOf(row.get(3)), planes);
    assertThat(new CacheSpace(row.get(0), layout, Integer.parseInt(row.get(5)), row.get(6)).id())
        .hasToString(row.get(7));
  }

  @Test
  void vectors_areManyAndAllDifferent() {
    assertThat(prefixVectors().map(List::getLast)).hasSizeGreaterThan(15).doesNotHaveDuplicates();
    assertThat(spaceVectors().map(List::getLast)).hasSizeGreaterThan(8).doesNotHaveDuplicates();
  }

  /// Hashes that a client may choose to slow a node down: they differ in a few bytes only.
  @Test
  void hashes_thatDifferInAFewBytes_spreadOverATable() {
    int keys = 1 << 16;
    for (int shift = 0; shift <= 32; shift += 16) {
      Set<Integer> high = new HashSet<>();
      Set<Integer> low = new HashSet<>();
      for (long i = 0; i < keys; i++) {
        high.add(new BlockHash(i << shift, 7).hashCode());
        low.add(new BlockHash(7, i << shift).hashCode());
      }
      // Of 2^16 random codes of 32 bits, fewer than 3 in expectation meet another
      assertTrue(Math.min(high.size(), low.size()) > keys - 32, high.size() + " and " + low.size());
    }
  }

  @Test
  void keys_areOrderedAsTheirEncodings() {
    SpaceId space = new SpaceId(-1, 1);
    List<BlockKey> ordered = List.of(new BlockKey(new SpaceId(1, -1), new BlockHash(9, 9)),
        new BlockKey(space, new BlockHash(0, -1)), new BlockKey(space, new BlockHash(1, 0)),
        new BlockKey(space, new BlockHash(-1, 0)));
    List<BlockKey> shuffled = new ArrayList<>(ordered.reversed());
    shuffled.sort(null);
    assertEquals(ordered, shuffled);
  }
}
