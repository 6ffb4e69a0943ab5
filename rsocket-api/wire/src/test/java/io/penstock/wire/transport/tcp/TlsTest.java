package io.penstock.wire.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.ssl.OpenSsl;
import io.penstock.testkit.Eventually;
import io.penstock.wire.security.ClientCertificates;
import io.penstock.wire.security.ClientTls;
import io.penstock.wire.security.ServerTls;
import io.penstock.wire.security.TestCertificates;
import io.penstock.wire.security.TlsFailedException;
import io.penstock.wire.security.TlsFiles;
import io.penstock.wire.transport.ConnectionSlots;
import io.penstock.wire.transport.Refusal;
import io.penstock.wire.transport.TransportFailure.FrameLengthException;
import io.penstock.wire.transport.TransportFailure.RefusedPeerException;
import io.penstock.wire.transport.frame.FrameReader;
import io.rsocket.DuplexConnection;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.util.DefaultPayload;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Connections with TLS: which client reaches which node, what each side is told, and that the bounds of a listener
/// hold as without.
@Timeout(60)
final class TlsTest {
  @TempDir
  Path folder;

  private final TcpPair pair = new TcpPair();
  private TestCertificates certificates = new TestCertificates(Path.of("."));

  @BeforeEach
  void authority() {
    certificates = new TestCertificates(folder);
  }

  @AfterEach
  void nothingIsHeld() {
    pair.close();
  }

  private TcpListener listen(TlsFiles files, ClientCertificates clients) throws IOException {
    return listen(ServerTls.of(files, clients));
  }

  private TcpListener listen(ServerTls tls) {
    return pair.listen(pair.server(options -> options.withTls(tls)), pair::collect);
  }

  private Mono<DuplexConnection> connecting(int port, ClientTls tls) {
    return TcpTransport.client(TcpClientOptions.to("127.0.0.1", port).withLimits(pair.limits)
        .withConnectTimeout(TcpPair.PATIENCE).withTls(tls), Framing.LENGTHS, pair.loops, pair.listener, pair.ledger)
        .connect();
  }

  private DuplexConnection connect(TcpListener to, TlsFiles files) throws IOException {
    return Objects.requireNonNull(connecting(to.port(), ClientTls.of(files)).block(TcpPair.PATIENCE));
  }

  private void assertTalk(DuplexConnection client, DuplexConnection server) {
    FrameReader atServer = FrameReader.unbounded(server);
    FrameReader atClient = FrameReader.unbounded(client);
    int before = atServer.count.get();
    client.sendFrame(1, pair.marked(1_000_000, 7));
    server.sendFrame(1, pair.marked(10, 8));
    Eventually.holds("the frame came", () -> atServer.count.get() > before && atClient.count.get() > 0);
  }

  @Test
  void boringSsl_isUsedWhereItIsOnTheClassPath() {
    assertThat(OpenSsl.isAvailable()).isTrue();
  }

  @Test
  void trustedCertificate_carriesFramesOfAnyLengthBothWays() throws IOException {
    TcpListener server = listen(certificates.node(), ClientCertificates.NONE);
    DuplexConnection client = connect(server, certificates.trust());

    assertTalk(client, pair.accepted(0));

    client.dispose();
    client.onClose().block(TcpPair.PATIENCE);
    pair.accepted(0).onClose().block(TcpPair.PATIENCE);
    assertThat(pair.causes).isEmpty();
  }

  @Test
  void rsocketStream_comesWhole_andInOrder() throws IOException {
    TcpListener server =
        pair.listen(pair.server(options -> options.withTls(tls(certificates.node()))), RSocketServer.create(
            SocketAcceptor.forRequestStream(asked -> {
              asked.release();
              return Flux.range(0, 40).map(i -> DefaultPayload.create(new byte[200_000 + i]));
            })).payloadDecoder(PayloadDecoder.ZERO_COPY).asConnectionAcceptor());
    RSocket client = Objects.requireNonNull(RSocketConnector.create().payloadDecoder(PayloadDecoder.ZERO_COPY)
        .connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", server.port())
            .withTls(ClientTls.of(certificates.trust())), Framing.LENGTHS, pair.loops, pair.listener, pair.ledger))
        .block(TcpPair.PATIENCE));

    var lengths = client.requestStream(DefaultPayload.create("all")).limitRate(3).map(TlsTest::length).collectList()
        .block(TcpPair.PATIENCE);

    assertThat(lengths).hasSize(40).startsWith(200_000, 200_001).endsWith(200_039);
    client.dispose();
    client.onClose().onErrorComplete().block(TcpPair.PATIENCE);
  }

  @Test
  void webSocket_hasTlsBelowIt() throws IOException {
    List<FrameReader> readers = new CopyOnWriteArrayList<>();
    TcpListener server = pair.listen(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0).withSlots(pair.slots)
        .withReceive(pair.receive).withTls(tls(certificates.node())), WebSocketFraming.ofServer(Set.of()), pair.loops,
        pair.listener, pair.ledger), connection -> {
          readers.add(FrameReader.unbounded(connection));
          return pair.collect(connection);
        });
    TcpClientOptions options =
        TcpClientOptions.to("127.0.0.1", server.port()).withTls(ClientTls.of(certificates.trust()));
    DuplexConnection client = Objects.requireNonNull(TcpTransport.client(options, TcpTransport.webSocketTo(options),
        pair.loops, pair.listener, pair.ledger).connect().block(TcpPair.PATIENCE));
    client.sendFrame(1, pair.marked(1_000_000, 7));
    Eventually.holds("the frame came", () -> readers.getFirst().count.get() == 1);
  }

  private static int length(Payload payload) {
    try {
      return payload.sliceData().readableBytes();
    } finally {
      payload.release();
    }
  }

  private static ServerTls tls(TlsFiles files) {
    try {
      return ServerTls.of(files, ClientCertificates.NONE);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void certificateOfAnotherHost_isRefusedByTheClient_unlessAnyHostMayHaveIt() throws IOException {
    TcpListener server = listen(certificates.elsewhere(), ClientCertificates.NONE);

    assertThatThrownBy(() -> connect(server, certificates.trust())).isInstanceOf(TlsFailedException.class)
        .hasMessageContaining("127.0.0.1");

    Objects.requireNonNull(
        connecting(server.port(), ClientTls.ofAnyHost(certificates.trust())).block(TcpPair.PATIENCE)).dispose();
  }

  @Test
  void certificateThatExpired_isRefusedByTheClient() throws IOException {
    TcpListener server = listen(certificates.expired(), ClientCertificates.NONE);
    assertThatThrownBy(() -> connect(server, certificates.trust())).isInstanceOf(TlsFailedException.class)
        .hasMessageContaining("must have a certificate that is trusted");
  }

  @Test
  void certificateOfAnAuthorityThatIsNotTrusted_isRefusedByTheClient() throws IOException {
    TcpListener server = listen(certificates.strange(), ClientCertificates.NONE);
    assertThatThrownBy(() -> connect(server, certificates.trust())).isInstanceOf(TlsFailedException.class)
        .hasMessageContaining("must have a certificate that is trusted");
    refusedByTheServer("handshake of TLS must succeed");
  }

  @Test
  void neededCertificateOfAClient_isAskedFor() throws IOException {
    TlsFiles node = certificates.node().withTrust(Objects.requireNonNull(certificates.trust().trust()));
    TcpListener server = listen(node, ClientCertificates.NEED);

    assertRefused(server, certificates.trust());
    TlsFiles strange = certificates.strange();
    assertRefused(server, certificates.trust().withCert(Objects.requireNonNull(strange.cert()),
        Objects.requireNonNull(strange.key())));

    TlsFiles own = certificates.node();
    int before = pair.accepted.size();
    DuplexConnection client = connect(server, certificates.trust().withCert(Objects.requireNonNull(own.cert()),
        Objects.requireNonNull(own.key())));
    assertTalk(client, pair.accepted(before));
  }

  /// In TLS 1.3 a client hears of its own certificate after its handshake.
  private void assertRefused(TcpListener server, TlsFiles files) throws IOException {
    int before = pair.causes.size();
    DuplexConnection client = connect(server, files);
    FrameReader reader = FrameReader.unbounded(client);
    Eventually.holds("the client is refused", reader::ended);
    Eventually.holds("an end knows why", () -> pair.causes.size() > before);
    refusedByTheServer("handshake of TLS must succeed");
  }

  @Test
  void wantedCertificateOfAClient_mayBeAbsent() throws IOException {
    TlsFiles node = certificates.node().withTrust(Objects.requireNonNull(certificates.trust().trust()));
    TcpListener server = listen(node, ClientCertificates.WANT);
    assertTalk(connect(server, certificates.trust()), pair.accepted(0));
  }

  @Test
  void clientWithoutTls_readsThatTheNodeHasIt() throws IOException {
    TcpListener server = listen(certificates.node(), ClientCertificates.NONE);
    RSocket client = Objects.requireNonNull(
        RSocketConnector.create().connect(pair.client(server)).block(TcpPair.PATIENCE));
    assertThatThrownBy(() -> client.onClose().block(TcpPair.PATIENCE))
        .hasMessageContaining("connection must begin with TLS (began without)");
    refusedByTheServer("connection must begin with TLS (began without)");
  }

  @Test
  void clientWithTls_atANodeWithout_isToldSo() throws IOException {
    TcpListener server = pair.listen(connection -> {
      FrameReader.unbounded(connection);
      return connection.onClose();
    });
    assertThatThrownBy(
        () -> connecting(server.port(), ClientTls.of(certificates.trust())).block(TcpPair.PATIENCE))
        .isInstanceOf(TlsFailedException.class).hasMessageContaining("must speak TLS (answered without)");
    refusedByTheServer("connection must begin without TLS, for the node has no certificate (was TLS)");
  }

  private void refusedByTheServer(String words) {
    Eventually.holds("the server refused: " + words, () -> pair.causes.stream()
        .anyMatch(cause -> cause instanceof RefusedPeerException refused && refused.reason() == Refusal.TLS
            && String.valueOf(refused.getMessage()).contains(words)));
  }

  @Test
  void filesThatChange_countForNewConnections_andOldOnesLiveOn() throws IOException {
    TlsFiles files = certificates.node();
    ServerTls tls = ServerTls.of(files, ClientCertificates.NONE);
    TcpListener server = listen(tls);
    DuplexConnection old = connect(server, certificates.trust());
    DuplexConnection oldServer = pair.accepted(0);
    FrameReader reader = FrameReader.unbounded(oldServer);

    replace(files, certificates.strange());
    tls.files().check();
    connect(server, certificates.trust()).dispose(); // not before a second look found them quiet
    tls.files().check();

    assertThatThrownBy(() -> connect(server, certificates.trust())).isInstanceOf(TlsFailedException.class);
    connect(server, certificates.strangersTrust()).dispose();
    old.sendFrame(1, pair.marked(100_000, 1));
    Eventually.holds("the old connection carries frames", () -> reader.count.get() == 1);
    assertThat(tls.files().problem()).isEmpty();
  }

  @Test
  void brokenFiles_leaveTheLastGoodOnes() throws IOException {
    TlsFiles files = certificates.node();
    ServerTls tls = ServerTls.of(files, ClientCertificates.NONE);
    TcpListener server = listen(tls);

    Path key = Objects.requireNonNull(files.key());
    Files.copy(Objects.requireNonNull(certificates.node().key()), key, StandardCopyOption.REPLACE_EXISTING);
    tls.files().check();
    tls.files().check();

    assertThat(tls.files().problem().orElseThrow()).contains("must have the key of the certificate beside it");
    connect(server, certificates.trust()).dispose();
    Files.delete(key);
    tls.files().check();
    assertThat(tls.files().problem().orElseThrow()).contains(key.getFileName().toString());
    connect(server, certificates.trust()).dispose();
  }

  private static void replace(TlsFiles files, TlsFiles by) throws IOException {
    Files.copy(Objects.requireNonNull(by.cert()), Objects.requireNonNull(files.cert()),
        StandardCopyOption.REPLACE_EXISTING);
    Files.copy(Objects.requireNonNull(by.key()), Objects.requireNonNull(files.key()),
        StandardCopyOption.REPLACE_EXISTING);
  }

  @Test
  void silenceInTheHandshake_endsWithTheTimeToSetup() throws IOException {
    pair.slots = ConnectionSlots.defaults().withTimeToSetup(Duration.ofMillis(150));
    TcpListener server = listen(certificates.node(), ClientCertificates.NONE);
    byte[] half = {0x16, 3, 1, 0x02, 0, 1, 0, 1};
    try (Socket silent = socket(server); Socket slow = socket(server)) {
      slow.getOutputStream().write(half);
      assertThat(silent.getInputStream().readAllBytes().length).isLessThan(200);
      Eventually.holds("both are gone", () -> server.connections() == 0);
    }
    assertThat(pair.causes).hasSize(2)
        .allMatch(cause -> cause instanceof RefusedPeerException refused && refused.reason() == Refusal.SETUP_TIME);
  }

  @Test
  void manyThatKeepSilent_makeWayForOneThatDoesNot() throws IOException {
    pair.slots = ConnectionSlots.defaults().withNewcomers(2).withTimeToSetup(TcpPair.PATIENCE);
    TcpListener server = listen(certificates.node(), ClientCertificates.NONE);
    try (Socket first = socket(server); Socket second = socket(server); Socket third = socket(server)) {
      assertTalk(connect(server, certificates.trust()), pair.accepted(3));
      assertThat(third.isConnected() && second.isConnected()).isTrue();
      assertThat(pair.causes).anyMatch(
          cause -> cause instanceof RefusedPeerException refused && refused.reason() == Refusal.NEWCOMERS);
      assertThat(first.getInputStream().read()).isNegative();
    }
  }

  @Test
  void garbageBeforeTheHandshake_isRefused_whateverItIs() throws IOException {
    TcpListener server = listen(certificates.node(), ClientCertificates.NONE);
    for (int seed = 0; seed < 12; seed++) {
      Random random = new Random(seed);
      byte[] garbage = new byte[1 + random.nextInt(5_000)];
      random.nextBytes(garbage);
      byte[] sent = switch (seed % 3) {
        case 0 -> garbage;
        case 1 -> "GET / HTTP/1.1\r\nHost: node\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        default -> hello(garbage);
      };
      try (Socket socket = socket(server)) {
        socket.getOutputStream().write(sent);
        socket.shutdownOutput();
        drain(socket);
      }
      int round = seed;
      Eventually.holds("the connection of seed " + round + " is gone", () -> server.connections() == 0);
      pair.assertAllReturned();
    }
    assertTalk(connect(server, certificates.trust()), pair.accepted(12));
  }

  private static byte[] hello(byte[] garbage) {
    byte[] hello = garbage.clone();
    byte[] head = {0x16, 3, 1, (byte) (garbage.length >> 8), (byte) garbage.length};
    System.arraycopy(head, 0, hello, 0, Math.min(head.length, hello.length));
    return hello;
  }

  @Test
  void badFramesInTls_areRefusedAsWithoutIt() throws Exception {
    TcpListener server = listen(certificates.node(), ClientCertificates.NONE);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new Trusting()}, null);
    try (SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.startHandshake();
      Eventually.holds("it was accepted", () -> pair.accepted.size() == 1);
      FrameReader reader = FrameReader.unbounded(pair.accepted(0));
      socket.getOutputStream().write(new byte[] {0, 0, 1, 9, 9, 9, 9});
      drain(socket);
      Eventually.holds("the server ended it", reader::ended);
    }
    assertThat(pair.causes).singleElement().isInstanceOf(FrameLengthException.class);
  }

  private static final class Trusting implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  private static Socket socket(TcpListener server) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
    socket.setSoTimeout((int) TcpPair.PATIENCE.toMillis());
    return socket;
  }

  private static void drain(Socket socket) {
    try {
      socket.getInputStream().readAllBytes();
    } catch (IOException e) {
      assertThat(e).as("a reset ends it, too").isNotNull();
    }
  }

  @Test
  void oneBufferOfPlaintext_isReadWithoutDemand() throws IOException {
    TcpListener server = listen(certificates.node(), ClientCertificates.NONE);
    DuplexConnection client = connect(server, certificates.trust());
    DuplexConnection reading = pair.accepted(0);
    for (int i = 0; i < 300; i++) {
      client.sendFrame(1, pair.marked(100_000, 1));
    }
    Eventually.holds("the client waits for the socket", () -> TcpPair.gauges(client).queuedBytes() > 10_000_000);
    assertThat(TcpPair.gauges(reading).readBytes()).isLessThan(4_000_000);
    FrameReader reader = FrameReader.unbounded(reading);
    Eventually.holds("all come when they are asked for", () -> reader.count.get() == 300);
  }
}
