package io.penstock.s3.body;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Compares a body with every checksum that its client sent: in headers, in the trailer, and as the hash that was
/// signed. Used by one thread at a time.
public final class BodyChecks {
  /// Header with the hash of the body, or with the way in which the body is signed.
  public static final String CONTENT_HASH = "x-amz-content-sha256";
  private static final String TRAILER = "x-amz-trailer";
  private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");
  /// Headers that say which checksum is meant, and have none.
  private static final Set<String> WORDS =
      Set.of(Algorithm.PREFIX + "algorithm", Algorithm.PREFIX + "type", Algorithm.PREFIX + "mode");

  private final Map<Algorithm, Algorithm.Sum> sums = new EnumMap<>(Algorithm.class);
  private final Map<Algorithm, byte[]> expected = new EnumMap<>(Algorithm.class);
  private final byte @Nullable [] signedHash;
  private final @Nullable Algorithm inTrailer;

  /// @throws S3Exception if a checksum is of no known form
  public BodyChecks(HttpHeaders headers) {
    String md5 = headers.get("Content-MD5");
    if (md5 != null) {
      expect(Algorithm.MD5, md5, "Content-MD5");
    }
    for (Map.Entry<String, String> header : headers) {
      String name = header.getKey().toLowerCase(Locale.ROOT);
      if (name.startsWith(Algorithm.PREFIX) && !WORDS.contains(name)) {
        expect(algorithm(name), header.getValue(), name);
      }
    }
    String hash = headers.get(CONTENT_HASH, "");
    signedHash = HASH.matcher(hash).matches() ? HexFormat.of().parseHex(hash) : null;
    String trailer = headers.get(TRAILER);
    inTrailer = trailer == null ? null : algorithm(trailer.strip().toLowerCase(Locale.ROOT));
    if (signedHash != null) {
      sums.computeIfAbsent(Algorithm.SHA256, Algorithm::sum);
    }
    if (inTrailer != null) {
      sums.computeIfAbsent(inTrailer, Algorithm::sum);
    }
  }

  private static Algorithm algorithm(String header) {
    return Algorithm.ofHeader(header).orElseThrow(() -> new S3Exception(S3Code.INVALID_REQUEST,
        "checksum must be one of crc32, crc32c, crc64nvme, sha1 and sha256 (was " + header + ")"));
  }

  private void expect(Algorithm algorithm, String base64, String header) {
    Algorithm.Sum sum = algorithm.sum();
    byte[] value = decoded(base64);
    if (value == null || value.length != algorithm.bytes()) {
      throw new S3Exception(S3Code.INVALID_DIGEST,
          header + " must be " + algorithm.bytes() + " bytes in Base64 (was another text)");
    }
    expected.put(algorithm, value);
    sums.put(algorithm, sum);
  }

  private static byte @Nullable [] decoded(String base64) {
    try {
      return Base64.getDecoder().decode(base64.strip());
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /// Adds bytes of the body.
  public void update(ByteBuffer bytes) {
    for (Algorithm.Sum sum : sums.values()) {
      sum.update(bytes.duplicate());
    }
  }

  /// Compares, once all bytes came.
  ///
  /// @param trailer headers behind the body, names in lower case
  /// @throws S3Exception if the body is not the one that the client sent
  public void verify(Map<String, String> trailer) {
    trailer.forEach((name, value) -> {
      if (inTrailer == null || !name.equals(inTrailer.header())) {
        throw new S3Exception(S3Code.MALFORMED_TRAILER,
            "trailer must have the checksum that x-amz-trailer names (had another header)");
      }
      byte[] sent = decoded(value);
      if (sent == null || sent.length != inTrailer.bytes()) {
        throw new S3Exception(S3Code.MALFORMED_TRAILER,
            name + " must be " + inTrailer.bytes() + " bytes in Base64 (was another text)");
      }
      expected.put(inTrailer, sent);
    });
    if (inTrailer != null && !expected.containsKey(inTrailer)) {
      throw new S3Exception(S3Code.MALFORMED_TRAILER,
          "trailer must have the checksum that x-amz-trailer names (had none)");
    }
    Map<Algorithm, byte[]> found = new EnumMap<>(Algorithm.class);
    sums.forEach((algorithm, sum) -> found.put(algorithm, sum.value()));
    if (signedHash != null && !MessageDigest.isEqual(signedHash, found.get(Algorithm.SHA256))) {
      throw new S3Exception(S3Code.SHA256_MISMATCH, "x-amz-content-sha256 must be the hash of the body (was another)");
    }
    expected.forEach((algorithm, value) -> {
      if (!Arrays.equals(value, found.get(algorithm))) {
        throw new S3Exception(S3Code.BAD_DIGEST, algorithm.name() + " must be that of the body (was another)");
      }
    });
  }

  /// The checksums that were compared, for the headers of the response; after [#verify].
  public Map<String, String> compared() {
    Map<String, String> all = new TreeMap<>();
    expected.forEach((algorithm, value) -> {
      if (algorithm != Algorithm.MD5) {
        all.put(algorithm.header(), Base64.getEncoder().encodeToString(value));
      }
    });
    return all;
  }

  /// Whether the headers say that the body comes in chunks of the service, with signatures or a trailer.
  public static boolean isChunked(HttpHeaders headers) {
    return headers.get(CONTENT_HASH, "").startsWith("STREAMING-")
        || headers.get(HttpHeaderNames.CONTENT_ENCODING, "").contains("aws-chunked");
  }
}
