package io.penstock.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class RespNameTest {
  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void textOfTheFirstDatabase_isItsOwnName() {
    assertThat(RespName.of(0, bytes("model@1@0@1f@halfkv_bytes"))).isEqualTo("model@1@0@1f@halfkv_bytes");
    assertThat(RespName.of(0, bytes("Größe"))).isEqualTo("Größe");
    assertThat(RespName.of(3, bytes("chunk"))).isEqualTo("\u00013tchunk");
    assertThat(RespName.of(3, new byte[] {-1, 0})).isEqualTo("\u00013b_wA");
  }

  @Test
  void keyThatIsEmptyOrTooLong_hasNoName() {
    assertThat(RespName.of(0, new byte[0])).isNull();
    assertThat(RespName.of(0, new byte[2049])).isNull();
    assertThat(RespName.of(7, bytes("x".repeat(2048)))).isNull();
    assertThat(RespName.of(0, bytes("x".repeat(2048)))).hasSize(2048);
  }

  @Test
  void ruleOfAKeyWithoutName_statesTheLongestThatHasOne() {
    assertThat(RespName.rule(0, new byte[0])).isEqualTo("key must be 1 to 2048 bytes long (was 0)");
    assertThat(RespName.rule(0, bytes("x".repeat(2049)))).isEqualTo("key must be 1 to 2048 bytes long (was 2049)");
    assertThat(RespName.rule(7, bytes("x".repeat(2048))))
        .isEqualTo("key must be 1 to 2045 bytes long in database 7 (was 2048)");
    assertThat(RespName.of(7, bytes("x".repeat(2045)))).isNotNull();
    assertThat(RespName.of(7, bytes("x".repeat(2046)))).isNull();
    byte[] noText = new byte[1600];
    Arrays.fill(noText, (byte) -1);
    assertThat(RespName.rule(0, noText))
        .isEqualTo("key must be 1 to 1533 bytes long where it is no UTF-8 (was 1600)");
    assertThat(RespName.of(0, Arrays.copyOf(noText, 1533))).isNotNull();
    assertThat(RespName.of(0, Arrays.copyOf(noText, 1534))).isNull();
    assertThat(RespName.rule(12, noText))
        .isEqualTo("key must be 1 to 1533 bytes long in database 12 where it is no UTF-8 (was 1600)");
    assertThat(RespName.of(12, Arrays.copyOf(noText, 1533))).isNotNull();
    assertThat(RespName.of(12, Arrays.copyOf(noText, 1534))).isNull();
  }

  @Test
  void noTwoKeys_haveOneName_andEachComesBack() {
    Map<String, String> owners = new HashMap<>();
    Random random = new Random(42);
    List<String> texts =
        List.of("a", "\u0001", "\u00010ta", "\u00013ta", "\u00013b", "3ta", "\u000133ta", "tta", "b_wA");
    for (int database : List.of(0, 3, 33, 333)) {
      for (int i = 0; i < 500; i++) {
        byte[] key = i < texts.size() ? bytes(texts.get(i)) : new byte[1 + random.nextInt(4)];
        if (i >= texts.size()) {
          random.nextBytes(key);
        }
        String name = Objects.requireNonNull(RespName.of(database, key));
        String owner = database + ":" + Arrays.toString(key);
        assertThat(Objects.requireNonNullElse(owners.put(name, owner), owner)).isEqualTo(owner);
        assertThat(RespName.key(database, name)).isEqualTo(key);
        assertThat(RespName.key(database + 1, name)).isNull();
      }
    }
  }
}
