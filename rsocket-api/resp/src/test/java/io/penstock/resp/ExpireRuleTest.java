package io.penstock.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class ExpireRuleTest {
  private static ExpireRule rule(String... options) {
    return ExpireRule.of(Stream.concat(Stream.of("EXPIRE", "k", "10"), Stream.of(options)).map(RespClient::bytes)
        .toList());
  }

  @Test
  void options_sayWhichEndsChange() {
    List<Boolean> none = List.of(rule().allows(0, 5), rule().allows(9, 5), rule().allows(9, 10));
    assertThat(none).containsOnly(true);
    assertThat(rule("nx").allows(0, 5)).isTrue();
    assertThat(rule("NX").allows(9, 10)).isFalse();
    assertThat(rule("XX").allows(0, 5)).isFalse();
    assertThat(rule("XX").allows(9, 5)).isTrue();
    assertThat(rule("GT").allows(0, 5)).as("without an end it never ends").isFalse();
    assertThat(rule("GT").allows(9, 10)).isTrue();
    assertThat(rule("GT").allows(9, 9)).isFalse();
    assertThat(rule("LT").allows(0, 5)).isTrue();
    assertThat(rule("LT").allows(9, 5)).isTrue();
    assertThat(rule("LT").allows(9, 10)).isFalse();
    assertThat(rule("XX", "LT").allows(0, 5)).isFalse();
  }

  @Test
  void optionsThatRedisRefuses_haveItsWords() {
    assertThatThrownBy(() -> rule("foo")).hasMessage("ERR Unsupported option foo");
    assertThatThrownBy(() -> rule("NX", "GT"))
        .hasMessage("ERR NX and XX, GT or LT options at the same time are not compatible");
    assertThatThrownBy(() -> rule("GT", "LT")).hasMessage("ERR GT and LT options at the same time are not compatible");
  }

  @Test
  void endOfAValue_changesAsTheOptionsSay() throws IOException {
    try (OpenDoor door = OpenDoor.open(); RespClient client = door.connect()) {
      assertThat(client.call("SET", "k", "v", "EX", "100")).isEqualTo("+OK");
      assertThat(client.call("EXPIRE", "k", "50", "NX")).isEqualTo(":0");
      assertThat(client.call("EXPIRE", "k", "50", "GT")).isEqualTo(":0");
      assertThat(client.call("TTL", "k")).isEqualTo(":100");
      assertThat(client.call("EXPIRE", "k", "50", "LT")).isEqualTo(":1");
      assertThat(client.call("TTL", "k")).isEqualTo(":50");
      assertThat(client.call("EXPIRE", "k", "-1", "NX")).isEqualTo(":0");
      assertThat(client.call("EXPIRE", "k", "5", "FOO")).isEqualTo("-ERR Unsupported option FOO");
      assertThat(client.call("EXPIRE", "k", "-1")).isEqualTo(":1");
      assertThat(client.call("EXISTS", "k")).isEqualTo(":0");
      assertThat(client.call("EXPIRE", "k", "5")).isEqualTo(":0");
    }
  }
}
