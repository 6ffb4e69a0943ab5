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
