package io.penstock.wire.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SourceAddressTest {
  @ParameterizedTest
  @CsvSource({"127.0.0.1, 127.0.0.1:7, 127.0.0.1", "2001:db8:1:2:3:4:5:6, [2001:db8:1:2:3:4:5:6]:7, 2001:db8:1:2::/64"})
  void words_areThoseThatPeopleWrite(String host, String address, String source) {
    InetSocketAddress remote = new InetSocketAddress(InetAddress.ofLiteral(host), 7);
    assertThat(SourceAddress.words(remote)).isEqualTo(address);
    assertThat(SourceAddress.words(SourceAddress.of(remote))).isEqualTo(source);
    assertThat(SourceAddress.words(SourceAddress.of(null))).isEqualTo("a socket of this host");
  }
}
