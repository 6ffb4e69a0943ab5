package io.penstock.node.kvevents;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockHash;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The bytes of vLLM's three layouts, written down by hand from the MessagePack specification.
final class KvEncoderTest {
  /// A low half above the largest signed 64-bit integer, and one below.
  private static final List<BlockHash> HASHES =
      List.of(new BlockHash(1, 0xFEDC_BA98_7654_3210L), new BlockHash(2, 0x0123_4567_89AB_CDEFL));
  private static final List<KvEvent> EVENTS = List.of(new KvEvent.AllBlocksCleared(),
      new KvEvent.BlockStored(HASHES, KvMedium.CPU), new KvEvent.BlockRemoved(HASHES.subList(0, 1), KvMedium.STORAGE));
  /// `[1.5, [3 events], …`.
  private static final String HEAD = "93 cb3ff8000000000000 93";
  private static final String INTS = "92 cffedcba9876543210 cf0123456789abcdef";

  @Test
  void arrays_areInTheOrderOfTheFields() {
    assertPacked(KvLayout.ARRAY, HashForm.INT, HEAD
        + "91" + text("AllBlocksCleared")
        + "9a" + text("BlockStored") + INTS + "c0 90 10 c0" + text("CPU") + "c0 c0 03"
        + "94" + text("BlockRemoved") + "91 cffedcba9876543210" + text("STORAGE") + "03"
        + "c0");
  }

  @Test
  void mapBatch_namesTimeAndEvents() {
    byte[] packed = new KvEncoder(KvLayout.MAP_BATCH, HashForm.INT, 16, 3).pack(1.5, EVENTS.subList(0, 1));
    assertThat(packed).isEqualTo(bytes("82" + text("ts") + "cb3ff8000000000000" + text("events") + "91"
        + "81" + text("type") + text("AllBlocksCleared")));
  }

  @Test
  void maps_leaveOutWhatHasItsDefault() {
    assertPacked(KvLayout.MAP, HashForm.INT, HEAD
        + "81" + text("type") + text("AllBlocksCleared")
        + "89" + text("type") + text("BlockStored") + text("block_hashes") + INTS + text("parent_block_hash") + "c0"
        + text("token_ids") + "90" + text("block_size") + "10" + text("lora_id") + "c0" + text("medium") + text("CPU")
        + text("lora_name") + "c0" + text("group_idx") + "03"
        + "84" + text("type") + text("BlockRemoved") + text("block_hashes") + "91 cffedcba9876543210" + text("medium")
        + text("STORAGE") + text("group_idx") + "03"
        + "c0");
  }

  @Test
  void hashesAsBytes_areWhole() {
    byte[] packed = new KvEncoder(KvLayout.ARRAY, HashForm.BYTES, 16, 3).pack(1.5, EVENTS.subList(2, 3));
    assertThat(packed).isEqualTo(bytes("93 cb3ff8000000000000 91 94" + text("BlockRemoved")
        + "91 c410 0000000000000001 fedcba9876543210" + text("STORAGE") + "03 c0"));
  }

  private static void assertPacked(KvLayout layout, HashForm form, String expected) {
    assertThat(new KvEncoder(layout, form, 16, 3).pack(1.5, EVENTS)).isEqualTo(bytes(expected));
  }

  /// A short text as MessagePack, in hex.
  private static String text(String text) {
    return HexFormat.of().toHexDigits((byte) (0xa0 | text.length()))
        + HexFormat.of().formatHex(text.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
  }

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }
}
