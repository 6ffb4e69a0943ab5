package io.penstock.node.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.flow.ValueStore;
import io.penstock.node.shape.BlockShape;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class OtherShapeTest {
  private static final HostPort NODE = new HostPort("127.0.0.1", 7733);
  private static final BlockLayout OURS = BlockShape.of(4 << 10, 4).layout();
  private static final CacheSpace SPACE = new CacheSpace("m", OURS, 0, "");
  private static final CacheSpace VALUES = ValueStore.space("m", 16 << 10, "");

  private static final Set<String> FLAGS =
      Set.of("--model", "--layers", "--dtype", "--kv-heads", "--block-bytes", "--value-part-bytes");

  private static final String SAID = "what the node said";

  private static String sentence(Set<String> flags, @Nullable String field, @Nullable Object theirs, Object mine) {
    return OtherShape.sentence(NODE, SPACE, flags, field, theirs, mine, SAID);
  }

  private static String planes(ElementType type, int heads, int width) {
    return sentence(FLAGS, "space.planes", List.of(new Plane(Plane.Kind.KEY, type, heads, width)),
        OURS.planes());
  }

  @Test
  void planesOfOneHead_differInTheSizeOfABlock() {
    assertThat(planes(ElementType.BF16, 1, 32))
        .isEqualTo("--block-bytes must be 8 KiB, as at the node at 127.0.0.1:7733 (was 4 KiB)");
  }

  @Test
  void planes_areToldByTheFirstDimensionThatDiffers() {
    assertThat(planes(ElementType.FP32, 2, 16))
        .isEqualTo("--dtype must be fp32, as at the node at 127.0.0.1:7733 (was bf16)");
    assertThat(planes(ElementType.BF16, 2, 16))
        .isEqualTo("--kv-heads must be 2, as at the node at 127.0.0.1:7733 (was 1)");
  }

  /// What a client of `ours` is told by a node of one space, `theirs`.
  private static String told(CacheSpace ours, CacheSpace theirs) {
    CacheSpace.Difference first = theirs.difference(ours).orElseThrow();
    return OtherShape.sentence(NODE, ours, FLAGS, "space." + first.field().replace("layout.", ""), first.here(),
        first.there(), SAID);
  }

  @Test
  void values_areToldByTheLengthOfTheirParts() {
    assertThat(told(VALUES, ValueStore.space("m", 262_656, "")))
        .isEqualTo("--value-part-bytes must be 262656 B, as at the node at 127.0.0.1:7733 (was 16 KiB)");
    assertThat(told(VALUES, SPACE))
        .isEqualTo("--value-part-bytes must be none, as at the node at 127.0.0.1:7733 (was 16 KiB)");
    assertThat(told(SPACE, VALUES))
        .isEqualTo("--value-part-bytes must be 16 KiB, as at the node at 127.0.0.1:7733 (was none)");
  }

  @Test
  void planesThatOnlyANewerNodeKnows_areToldInItsWords() {
    assertToldInItsWords(sentence(FLAGS, "space.planes", null, OURS.planes()));
    assertToldInItsWords(sentence(FLAGS, "space.planes", "FP4", OURS.planes()));
  }

  @Test
  void otherPlanes_areToldInItsWords() {
    assertToldInItsWords(sentence(FLAGS, "space.planes",
        List.of(new Plane(Plane.Kind.LATENT, ElementType.BF16, 1, 512)), OURS.planes()));
  }

  @Test
  void nodeThatTellsASentenceAlone_isToldInItsWords() {
    assertToldInItsWords(sentence(FLAGS, null, null, 16));
  }

  @Test
  void nodeWhoseSpacesAllHaveASalt_wantsTheSpaceNamed() {
    assertThat(sentence(FLAGS, "space", "named", "absent")).isEqualTo("--model, --salt and the layout of a space must"
        + " be given, for every space of the node at 127.0.0.1:7733 has a salt");
  }

  @Test
  void flagThatTheCommandHasNot_isNotNamed() {
    assertThat(sentence(Set.of("--block-tokens"), "space.tokens", 32L, 16L))
        .isEqualTo("--block-tokens must be 32, as at the node at 127.0.0.1:7733 (was 16)");
    assertToldInItsWords(sentence(FLAGS, "space.tokens", 32L, 16L));
  }

  @Test
  void otherFingerprint_isToldByItsFlag() {
    assertThat(sentence(Set.of("--fingerprint"), "space.fingerprint", "w1", ""))
        .isEqualTo("--fingerprint must be w1, as at the node at 127.0.0.1:7733 (was none)");
    assertThat(sentence(Set.of("--fingerprint"), "space.fingerprint", "", "w2"))
        .isEqualTo("--fingerprint must be none, as at the node at 127.0.0.1:7733 (was w2)");
  }

  private static void assertToldInItsWords(String told) {
    assertThat(told).isEqualTo(
        "blocks must have the shape of those of the node at 127.0.0.1:7733, which keeps others (" + SAID + ")");
  }
}
