package io.penstock.node.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class HostPortTest {
  @ParameterizedTest
  @CsvSource({"127.0.0.1:7733, 127.0.0.1, 7733", "node-3.example:1, node-3.example, 1", "[::1]:65535, ::1, 65535"})
  void parse_address_isReadAndPrintedBack(String text, String host, int port) {
    assertThat(HostPort.parse(text)).isEqualTo(new HostPort(host, port)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "host", ":7733", "host:", "host:0", "host:65536", "host:x", "::1:7733", "[]:7733"})
  void parse_noAddress_namesTheRule(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> HostPort.parse(text))
        .withMessageStartingWith("address must be HOST:PORT with a port from 1 to 65535 (was ");
  }
}
