package io.penstock.s3;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner.AuthLocation;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;

/// A client that sends the bytes it is told to.
public final class RawClient implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 60_000;
  private static final int SMALL_WINDOW = 8 << 10;

  private final String host;
  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;

  /// A response.
  public record Answer(int status, Map<String, String> headers, byte[] body) {
    public String text() {
      return new String(body, StandardCharsets.UTF_8);
    }
  }

  public RawClient(int port) throws IOException {
    this(port, 0, "127.0.0.1:" + port);
  }

  private RawClient(int port, int window, String host) throws IOException {
    this.host = host;
    socket = new Socket();
    if (window > 0) {
      socket.setReceiveBufferSize(window);
    }
    socket.connect(new InetSocketAddress("127.0.0.1", port), PATIENCE_MILLIS);
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
    out = socket.getOutputStream();
  }

  /// A client whose system holds few bytes that it has not read.
  static RawClient withSmallWindow(int port) throws IOException {
    return new RawClient(port, SMALL_WINDOW, "127.0.0.1:" + port);
  }

  /// A client that knows the node by the name `host`.
  static RawClient withHost(int port, String host) throws IOException {
    return new RawClient(port, 0, host);
  }

  /// A target with its signature in the query, which any body may follow.
  public static String signed(int port, String method, String target) {
    return signed("127.0.0.1:" + port, method, target);
  }

  private static String signed(String host, String method, String target) {
    SdkHttpRequest request = SdkHttpRequest.builder().method(SdkHttpMethod.fromValue(method))
        .uri(URI.create("https://" + host + target)).build();
    return AwsV4HttpSigner.create().sign(sign -> sign
        .identity(AwsCredentialsIdentity.create(TestNode.KEY, TestNode.SECRET)).request(request)
        .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "s3").putProperty(AwsV4HttpSigner.REGION_NAME, "eu-north-1")
        .putProperty(AwsV4HttpSigner.DOUBLE_URL_ENCODE, false).putProperty(AwsV4HttpSigner.NORMALIZE_PATH, false)
        .putProperty(AwsV4HttpSigner.PAYLOAD_SIGNING_ENABLED, false)
        .putProperty(AwsV4HttpSigner.AUTH_LOCATION, AuthLocation.QUERY_STRING)
        .putProperty(AwsV4HttpSigner.EXPIRATION_DURATION, Duration.ofHours(12)))
        .request().getUri().toString().replaceFirst("https://[^/]*", "");
  }

  /// The head of a signed request.
  ///
  /// @param headers lines, each with its end
  public String head(String method, String target, String headers) {
    return method + " " + signed(host, method, target) + " HTTP/1.1\r\nHost: " + host + "\r\n" + headers
        + "\r\n";
  }

  /// Reads `count` bytes, or fewer if the connection ends before.
  byte[] read(int count) throws IOException {
    return in.readNBytes(count);
  }

  /// Ends the connection as a process that is killed does.
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  public void send(String text) throws IOException {
    send(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  public void send(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
  }

  /// Sends a signed request and reads its response.
  public Answer ask(String method, String target, String headers, byte[] body) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(head(method, target, (body.length > 0 || method.equals("PUT") || method.equals("POST")
        ? "Content-Length: " + body.length + "\r\n"
        : "") + headers).getBytes(StandardCharsets.ISO_8859_1));
    all.writeBytes(body);
    send(all.toByteArray());
    return answer(method.equals("HEAD"));
  }

  public Answer get(String target) throws IOException {
    return ask("GET", target, "", new byte[0]);
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int each = in.read(); each != '\n'; each = in.read()) {
      if (each < 0) {
        throw new EOFException("the connection ended");
      }
      line.append((char) each);
    }
    return line.toString().strip();
  }

  /// Reads one response.
  ///
  /// @param isHead whether it is to a HEAD, and has no body
  public Answer answer(boolean isHead) throws IOException {
    int status = Integer.parseInt(line().split(" ")[1]);
    Map<String, String> headers = new TreeMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      headers.put(line.substring(0, line.indexOf(':')).toLowerCase(Locale.ROOT),
          line.substring(line.indexOf(':') + 1).strip());
    }
    int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
    byte[] body = isHead ? new byte[0] : in.readNBytes(length);
    if (!isHead && body.length < length) {
      throw new EOFException("the body ended after " + body.length + " of " + length + " bytes");
    }
    return new Answer(status, headers, body);
  }

  /// Whether the node ended the connection.
  public boolean isEnded() throws IOException {
    return in.read() < 0;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
