package io.penstock.s3.sign;

import static java.util.Objects.requireNonNull;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.penstock.s3.body.ChunkSeal;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import io.penstock.s3.request.Target;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.internal.signer.CredentialScope;
import software.amazon.awssdk.http.auth.aws.internal.signer.RollingSigner;
import software.amazon.awssdk.http.auth.aws.internal.signer.V4Properties;
import software.amazon.awssdk.http.auth.aws.internal.signer.V4RequestSigner;
import software.amazon.awssdk.http.auth.aws.internal.signer.V4RequestSigningResult;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;

/// Lets in requests whose signature is the one that this node makes of them with the secret of their key. Safe from any
/// thread.
public final class Gate {
  private static final Duration SKEW = Duration.ofMinutes(15);
  private static final String AMZ = "x-amz-";
  private static final String UNSIGNED = "UNSIGNED-PAYLOAD";
  private static final String STREAM = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
  private static final String STREAM_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
  private static final String STREAM_UNSIGNED = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
  private static final List<String> WAYS = List.of(UNSIGNED, STREAM, STREAM_TRAILER, STREAM_UNSIGNED);

  private final @Nullable Supplier<AccessKeys> keys;
  private final InstantSource clock;

  /// @param keys asked at each request; null if every request is let in, whatever it claims
  public Gate(@Nullable Supplier<AccessKeys> keys, InstantSource clock) {
    this.keys = keys;
    this.clock = requireNonNull(clock, "clock");
  }

  /// A request that was let in.
  ///
  /// @param user empty where every request is let in
  /// @param seal of chunks that are signed; null for others
  public record Entry(String user, @Nullable ChunkSeal seal) {}

  /// Whether `name` is that of a user who has an access key.
  public boolean isUser(String name) {
    Supplier<AccessKeys> known = keys;
    return known != null && known.get().isUser(name);
  }

  /// @throws S3Exception if the request is not let in
  public Entry enter(HttpMethod method, HttpHeaders headers, Target target) {
    Supplier<AccessKeys> known = keys;
    if (known == null) {
      return new Entry("", null);
    }
    Claim claim = Claim.of(headers, target.query())
        .orElseThrow(() -> new S3Exception(S3Code.ACCESS_DENIED, "request must be signed (was not)"));
    requireTime(claim);
    AccessKey key = known.get().of(claim.keyId()).orElseThrow(() -> new S3Exception(S3Code.INVALID_ACCESS_KEY_ID,
        "access key must be one of this node (is unknown)"));
    requireSigned(claim, headers);
    requireToken(claim, key);
    Signer signer = new Signer(claim, key, method, headers, target);
    V4RequestSigningResult signed = signer.sign(target.path());
    if (!isSame(signed, claim) && !target.rawPath().equals(target.path())) {
      signed = signer.sign(target.rawPath()); // some clients sign a path as they send it
    }
    if (!isSame(signed, claim)) {
      throw new S3Exception(S3Code.SIGNATURE_DOES_NOT_MATCH,
          "signature must be the one that the secret of the access key gives (was another)");
    }
    boolean seals = claim.payload().startsWith(STREAM);
    return new Entry(key.user(), seals ? new Chunks(signed, signer.scope) : null);
  }

  private static boolean isSame(V4RequestSigningResult signed, Claim claim) {
    return MessageDigest.isEqual(signed.getSignature().getBytes(StandardCharsets.US_ASCII),
        claim.signature().getBytes(StandardCharsets.US_ASCII));
  }

  private void requireTime(Claim claim) {
    Instant now = clock.instant();
    Duration life = claim.life();
    boolean isEarly = claim.time().isAfter(now.plus(SKEW));
    if (life == null ? isEarly || claim.time().isBefore(now.minus(SKEW)) : isEarly) {
      throw new S3Exception(S3Code.REQUEST_TIME_TOO_SKEWED,
          "time of the request must be within 15 minutes of the node's, "
              + now + " (was " + claim.time() + ")");
    }
    if (life != null && now.isAfter(claim.time().plus(life))) {
      throw new S3Exception(S3Code.ACCESS_DENIED, "request must be within its X-Amz-Expires (has expired)");
    }
  }

  /// The host, and every header of the service, must be signed; else another could have put it in.
  private static void requireSigned(Claim claim, HttpHeaders headers) {
    boolean isAll = claim.signed().contains("host");
    for (String name : headers.names()) {
      String lower = name.toLowerCase(Locale.ROOT);
      isAll &= !lower.startsWith(AMZ) || claim.signed().contains(lower)
          || (claim.isInQuery() && !lower.equals("x-amz-date"));
    }
    if (!isAll) {
      throw new S3Exception(S3Code.ACCESS_DENIED, "host and all x-amz- headers must be signed (were not)");
    }
    if (!WAYS.contains(claim.payload()) && !claim.payload().matches("[0-9a-f]{64}")) {
      throw new S3Exception(S3Code.INVALID_ARGUMENT,
          "x-amz-content-sha256 must be a hash or one of " + String.join(", ", WAYS) + " (was another)");
    }
  }

  private static void requireToken(Claim claim, AccessKey key) {
    String token = key.token();
    boolean isRight = token == null || (claim.token() != null && MessageDigest
        .isEqual(token.getBytes(StandardCharsets.UTF_8), claim.token().getBytes(StandardCharsets.UTF_8)));
    if (!isRight) {
      throw new S3Exception(S3Code.INVALID_TOKEN, "session token must be the one of the access key (was "
          + (claim.token() == null ? "not given" : "another") + ")");
    }
  }

  /// Signs a request again.
  private static final class Signer {
    private final Claim claim;
    private final HttpMethod method;
    private final HttpHeaders headers;
    private final Target target;
    final CredentialScope scope;
    private final V4Properties properties;

    Signer(Claim claim, AccessKey key, HttpMethod method, HttpHeaders headers, Target target) {
      this.claim = claim;
      this.method = method;
      this.headers = headers;
      this.target = target;
      this.scope = new CredentialScope(claim.region(), "s3", claim.time());
      this.properties = V4Properties.builder()
          .credentials(AwsCredentialsIdentity.create(key.id(), key.secret())).credentialScope(scope)
          .signingClock(Clock.fixed(claim.time(), ZoneOffset.UTC))
          .doubleUrlEncode(false).normalizePath(false).build();
    }

    V4RequestSigningResult sign(String path) {
      SdkHttpRequest.Builder request = SdkHttpRequest.builder().method(SdkHttpMethod.fromValue(method.name()))
          .protocol("http").host("host").encodedPath(path);
      target.query().forEach((name, values) -> {
        if (!name.equals(Claim.SIGNATURE)) {
          request.putRawQueryParameter(name, values);
        }
      });
      for (String name : claim.signed()) {
        List<String> values = headers.getAll(name);
        if (!values.isEmpty()) { // a header that was signed as absent is absent
          request.putHeader(name, values);
        }
      }
      return V4RequestSigner.create(properties, claim.payload()).sign(request);
    }
  }

  /// Signatures of chunks, from that of the request on.
  private static final class Chunks implements ChunkSeal {
    private static final String EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    private final RollingSigner signer;
    private final CredentialScope scope;

    Chunks(V4RequestSigningResult request, CredentialScope scope) {
      this.signer = new RollingSigner(request.getSigningKey(), request.getSignature());
      this.scope = scope;
    }

    private String begin(String kind, String before) {
      return kind + "\n" + scope.getDatetime() + "\n" + scope.scope() + "\n" + before + "\n";
    }

    @Override
    public String chunk(byte[] hash) {
      return signer.sign(before -> begin(Claim.ALGORITHM + "-PAYLOAD", before) + EMPTY + "\n"
          + HexFormat.of().formatHex(hash));
    }

    @Override
    public String trailer(byte[] hash) {
      return signer.sign(before -> begin(Claim.ALGORITHM + "-TRAILER", before) + HexFormat.of().formatHex(hash));
    }
  }
}
