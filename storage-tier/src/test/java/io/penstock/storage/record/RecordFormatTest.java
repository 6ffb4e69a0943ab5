package io.penstock.storage.record;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SpaceId;
import io.penstock.testkit.LeakLedger;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class RecordFormatTest {
  private static final BlockLayout LAYOUT =
      new BlockLayout(1, 2, TokenOrder.NHD, List.of(new Plane(Plane.Kind.LATENT, ElementType.BF16, 1, 3)));
  private static final BlockKey KEY = new BlockKey(new SpaceId(0x0001020304050607L, 0x08090a0b0c0d0e0fL),
      new BlockHash(0x1011121314151617L, 0x18191a1b1c1d1e1fL));

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", LAYOUT, 4, 4));
  private final RecordWriter writer = new RecordWriter(LAYOUT);

  private byte[] block() {
    BlockDraft draft = Objects.requireNonNull(arena.tryClaim(List.of(KEY))).getFirst();
    draft.write(GranuleRange.all(LAYOUT), memory -> {
      for (int i = 0; i < 12; i++) {
        memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i + 1));
      }
    });
    draft.produced(GranuleRange.all(LAYOUT));
    try (Block block = draft.seal()) {
      return block.read(payload -> joined(writer.block(block, payload, 7, 3)));
    }
  }

  private byte[] removal() {
    BlockKey other = new BlockKey(KEY.space(), new BlockHash(0x2021222324252627L, 0x28292a2b2c2d2e2fL));
    return joined(writer.removal(List.of(new RecordName(KEY, 7), new RecordName(other, 8)), 9, 3));
  }

  private static byte[] joined(MemorySegment[] parts) {
    ByteBuffer all = ByteBuffer.allocate(16 << 10);
    for (MemorySegment part : parts) {
      all.put(part.asByteBuffer());
    }
    byte[] bytes = new byte[all.position()];
    all.get(0, bytes);
    return bytes;
  }

  private static RecordHead decode(byte[] record) {
    try (Arena memory = Arena.ofConfined()) {
      MemorySegment bytes =
          memory.allocate(Math.max(1, record.length)).asSlice(0, record.length).copyFrom(MemorySegment.ofArray(record));
      RecordHead head = requireNonNull(RecordHead.decode(bytes, record.length), "head");
      assertThat(head.isMarked(bytes.asSlice(record.length - 8L))).as("commit mark").isTrue();
      return head;
    }
  }

  @Test
  void examplesOfTheDocument_areWhatIsWritten() throws IOException {
    String document = Files.readString(Path.of(System.getProperty("basedir", ""), "FORMAT.md"));
    List<String> examples = Pattern.compile("```hex\n(.*?)```", Pattern.DOTALL).matcher(document).results()
        .map(RecordFormatTest::hex).toList();
    assertThat(examples).containsExactly(HexFormat.of().formatHex(block()), HexFormat.of().formatHex(removal()));
  }

  private static String hex(MatchResult example) {
    return example.group(1).replaceAll("(?m)^[0-9a-f]+:|\\s", "");
  }

  @Test
  void decodedBlock_saysWhatWasWritten() {
    RecordHead head = decode(block());
    assertThat(head.kind()).isEqualTo(RecordKind.BLOCK);
    assertThat(head.key()).isEqualTo(KEY);
    assertThat(head.sequence()).isEqualTo(7);
    assertThat(head.removals()).isEmpty();
    assertThat(head.bytes()).isEqualTo(88).isEqualTo(RecordFormat.headBytes(LAYOUT));
    assertThat(head.payloadBytes()).isEqualTo(12);
    assertThat(head.granules()).isEqualTo(1);
    assertThat(head.granuleBytes(0)).isEqualTo(12);
    assertThat(head.crc()).isEqualTo(writer.crc());
    assertThat(head.isOf(LAYOUT)).isTrue();
    assertThat(head.segment()).isEqualTo(3);
  }

  @Test
  void decodedRemoval_saysWhatWasWritten() {
    RecordHead head = decode(removal());
    assertThat(head.kind()).isEqualTo(RecordKind.REMOVAL);
    assertThat(head.key().space()).isEqualTo(KEY.space());
    assertThat(head.sequence()).isEqualTo(9);
    assertThat(head.removals()).hasSize(2).first().isEqualTo(new RecordName(KEY, 7));
    assertThat(removal()).hasSize(RecordFormat.removalBytes(2));
  }

  @Test
  void claimedBytes_areThoseOfAPossibleHead() {
    ByteBuffer start = ByteBuffer.wrap(Arrays.copyOf(block(), 96)).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(RecordHead.claimedBytes(MemorySegment.ofBuffer(start))).isEqualTo(block().length);
    start.putInt(12, RecordFormat.LONGEST_HEAD);
    assertThat(RecordHead.claimedBytes(MemorySegment.ofBuffer(start))).isGreaterThan(RecordFormat.LONGEST_HEAD);
    start.putInt(12, RecordFormat.LONGEST_HEAD + 8);
    assertThat(RecordHead.claimedBytes(MemorySegment.ofBuffer(start))).isZero();
  }

  @Test
  void brokenRules_areNoHead() {
    assertBroken(bytes -> bytes.put(0, (byte) 'X'));
    assertBroken(bytes -> bytes.putInt(12, 13));
    assertBroken(bytes -> bytes.putInt(12, -8));
    assertBroken(bytes -> bytes.putInt(12, 112));
    assertBroken(bytes -> bytes.putLong(16, 8));
    assertForged(bytes -> bytes.putShort(10, (short) 3));
    assertForged(bytes -> bytes.putLong(16, -1));
    assertForged(bytes -> bytes.putInt(56, 1));
    assertForged(bytes -> bytes.putInt(64, -1));
    assertForged(bytes -> bytes.putInt(64, 16));
    assertForged(bytes -> bytes.putInt(68, Integer.MAX_VALUE));
    assertForged(bytes -> bytes.putInt(72, Integer.MAX_VALUE));
    assertForged(bytes -> bytes.putInt(68, 2));
    assertForged(bytes -> bytes.putInt(76, 0));
    assertForged(bytes -> bytes.putInt(76, 40).putInt(64, 40));
  }

  @Test
  void brokenRulesOfARemoval_areNoHead() {
    assertForged(removal(), bytes -> bytes.putInt(56, 0));
    assertForged(removal(), bytes -> bytes.putInt(56, 4097));
    assertForged(removal(), bytes -> bytes.putInt(56, -1));
    assertForged(bytes -> bytes.putInt(60, 0));
    assertForged(removal(), bytes -> bytes.putInt(56, 3));
    assertForged(removal(), bytes -> bytes.putInt(56, 1));
    assertForged(removal(), bytes -> bytes.putInt(68, 1));
    assertForged(removal(), bytes -> bytes.putLong(76, 0));
    assertForged(removal(), bytes -> bytes.putLong(100, 9));
    assertForged(Arrays.copyOf(removal(), 144), bytes -> {});
  }

  @Test
  void longestRemoval_isTakenWhole() {
    List<RecordName> names = LongStream.rangeClosed(1, RecordWriter.REMOVALS)
        .mapToObj(i -> new RecordName(new BlockKey(KEY.space(), new BlockHash(i, -i)), i)).toList();
    byte[] record = joined(writer.removal(names, 1000, 3));
    assertThat(record).hasSize(RecordFormat.removalBytes(RecordWriter.REMOVALS));
    assertThat(decode(record).removals()).isEqualTo(names);
    assertThat(RecordFormat.removalBytes(RecordFormat.MOST_REMOVALS)).isLessThanOrEqualTo(128 << 10);
  }

  @Test
  void unknownVersion_isAnErrorOfItsOwn() {
    byte[] record = block();
    Mutations.buffer(record).putShort(8, (short) 3);
    Mutations.forge(record);
    assertThatThrownBy(() -> decode(record)).isInstanceOf(RecordVersionException.class)
        .hasMessage("version of record must be 2 (was 3)");
  }

  @Test
  void anotherMark_isNotThatOfTheHead() {
    assertThat(decode(block()).isMarked(MemorySegment.ofArray(new byte[8]))).isFalse();
  }

  @Test
  void truncated_anywhere_isRefused() {
    byte[] record = block();
    for (int length = 0; length < record.length; length++) {
      assertRefused(Arrays.copyOf(record, length));
    }
  }

  private void assertBroken(Consumer<ByteBuffer> change) {
    byte[] record = block();
    change.accept(Mutations.buffer(record));
    assertRefused(record);
  }

  /// With a CRC that fits the change.
  private void assertForged(Consumer<ByteBuffer> change) {
    assertForged(block(), change);
  }

  private static void assertForged(byte[] record, Consumer<ByteBuffer> change) {
    change.accept(Mutations.buffer(record));
    Mutations.forge(record);
    assertRefused(record);
  }

  private static void assertRefused(byte[] record) {
    try (Arena memory = Arena.ofConfined()) {
      MemorySegment bytes =
          memory.allocate(Math.max(1, record.length)).asSlice(0, record.length).copyFrom(MemorySegment.ofArray(record));
      assertThat(RecordHead.decode(bytes, record.length)).as(HexFormat.of().formatHex(record)).isNull();
    }
  }
}
