package io.penstock.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class InternetAddressTest {
  private static final String NAME_CHARACTERS = "abcxyz019-._éß";

  private static NetworkInterface link() throws SocketException {
    return NetworkInterface.networkInterfaces().findFirst().orElseThrow();
  }

  private static int scope(InetSocketAddress address) {
    return address.getAddress() instanceof Inet6Address six ? six.getScopeId() : 0;
  }

  @Test
  void everyAddress_isReadAsItWasPrinted() throws SocketException, UnknownHostException {
    Random random = new Random(31);
    for (int i = 0; i < 20_000; i++) {
      InetSocketAddress address = any(random);
      String text = InternetAddress.text(address);
      InetSocketAddress read = InternetAddress.parse(text);
      assertThat(read).as(text).isEqualTo(address);
      assertThat(scope(read)).as(text).isEqualTo(scope(address));
      assertThat(InternetAddress.text(read)).isEqualTo(text);
      assertThat(InternetAddress.parse(InternetAddress.endpoint(InternetAddress.host(address), address.getPort())))
          .as(text).isEqualTo(address);
    }
  }

  private static InetSocketAddress any(Random random) throws SocketException, UnknownHostException {
    int port = 1 + random.nextInt(65_535);
    byte[] ip = new byte[random.nextBoolean() ? 4 : 16];
    for (int i = 0; i < ip.length; i++) {
      ip[i] = (byte) (random.nextInt(3) == 0 ? random.nextInt() : 0); // runs of zeros
    }
    switch (random.nextInt(4)) {
      case 0 -> {
        return InetSocketAddress.createUnresolved(name(random), port);
      }
      case 1 -> {
        byte[] ofLink = new byte[16];
        ofLink[0] = (byte) 0xFE;
        ofLink[1] = (byte) 0x80;
        ofLink[15] = (byte) random.nextInt();
        return new InetSocketAddress(Inet6Address.getByAddress(null, ofLink, link().getIndex()), port);
      }
      default -> {
        return new InetSocketAddress(InetAddress.getByAddress(ip), port);
      }
    }
  }

  private static String name(Random random) {
    StringBuilder name = new StringBuilder(random.nextBoolean() ? "unix" : "n");
    for (int i = random.nextInt(20); i > 0; i--) {
      name.append(NAME_CHARACTERS.charAt(random.nextInt(NAME_CHARACTERS.length())));
    }
    return name.toString();
  }

  @ParameterizedTest
  @CsvSource({"::,[::]:1", "0:0:0:0:0:0:0:1,[::1]:1", "1:0:0:2:0:0:0:3,[1:0:0:2::3]:1",
    "1:0:0:2:3:0:0:4,[1::2:3:0:0:4]:1",
    "1:0:2:3:4:5:6:7,[1:0:2:3:4:5:6:7]:1", "1:2:3:4:5:6:0:0,[1:2:3:4:5:6::]:1", "2001:DB8::A,[2001:db8::a]:1",
    "::ffff:192.0.2.1,192.0.2.1:1", "127.1,127.0.0.1:1", "[::1],[::1]:1", "node7,node7:1"})
  void anAddress_isPrintedInItsShortestForm(String host, String text) {
    assertThat(InternetAddress.text(InternetAddress.of(host, 1))).isEqualTo(text);
  }

  @Test
  void aLink_isReadByNameAndByNumber_andAsUrlsWriteIt() throws SocketException {
    NetworkInterface link = link();
    String text = "[fe80::1%" + link.getName() + "]:7733";
    for (String written : new String[] {link.getName(), "" + link.getIndex(), "25" + link.getName()}) {
      InetSocketAddress read = InternetAddress.parse("[fe80::1%" + written + "]:7733");
      assertThat(scope(read)).as(written).isEqualTo(link.getIndex());
      assertThat(InternetAddress.text(read)).isEqualTo(text);
    }
    assertThatIllegalArgumentException().isThrownBy(() -> InternetAddress.parse("[fe80::1%nosuch0]:7733"))
        .withMessage("host must be an address of a link of this host (was on nosuch0)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "node7", "node7:", ":7733", "node7:0", "node7:65536", "node7:x", "node7:+1", "node7: 1",
    "::1:7733", "[::1]7733", "[::1:7733", "[]:7733", "[node7]:7733", "[127.0.0.1]:7733", "[fe80::1%]:7733"})
  void others_areRefused(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> InternetAddress.parse(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", " ", "a b", "a/b", "a:b", "a@b", "user:secret@h", "256.1.1.1", "1.2.3.4.5", "\u001b[31mred",
        "a\nb", "[127.0.0.1]", "::1%", "::g"})
  void aHost_isANameOrAnAddress_andNothingThatMovesACursor(String host) {
    assertThatIllegalArgumentException().isThrownBy(() -> InternetAddress.host(host))
        .withMessageStartingWith("host must be a name or an address (was ")
        .satisfies(refusal -> assertThat(refusal.getMessage()).matches("\\P{Cntrl}*"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\u001b[31mred:1", "a\nb", "\u202eright", "\u2028line"})
  void aRefusedText_isQuotedWithoutCharactersThatATerminalDoesNotShow(String text) {
    for (ThrowingCallable reading : List.<ThrowingCallable>of(() -> InternetAddress.parse(text),
        () -> InternetAddress.host(text))) {
      assertThatIllegalArgumentException().isThrownBy(reading)
          .satisfies(refusal -> assertThat(refusal.getMessage().codePoints()).allMatch(Checks::isPrintable));
    }
  }

  @Test
  void hostsThatNamePartsOfOneHost_areKnown() {
    for (String host : new String[] {"fe80::1", "fe80::1%eth7", "febf::1", "0.0.0.0", "::"}) {
      assertThat(InternetAddress.isOfOneHost(host)).as(host).isTrue();
    }
    for (String host : new String[] {"node7", "127.0.0.1", "::1", "fec0::1", "2001:db8::1", "fe80.example"}) {
      assertThat(InternetAddress.isOfOneHost(host)).as(host).isFalse();
    }
    assertThat(InternetAddress.withoutLink("fe80::1%eth7")).isEqualTo("fe80::1");
  }

  @Test
  void hostsThatBeginOtherAddresses_areToldApart() {
    assertThat(InternetAddress.endpoint("unix", 7)).isEqualTo("tcp://unix:7");
    assertThat(InternetAddress.endpoint("local", 7)).isEqualTo("tcp://local:7");
    assertThat(InternetAddress.endpoint("::1", 7)).isEqualTo("[::1]:7");
  }
}
