package io.penstock.s3.sign;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.penstock.s3.body.BodyChecks;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import io.penstock.s3.request.Query;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// What a request says about its signature: in the header `Authorization`, or in its query.
///
/// @param keyId of the access key
/// @param date day of the scope, `yyyyMMdd`
/// @param region of the scope; any will do
/// @param time at which the request was signed
/// @param life for which a signature in a query holds; null in a header
/// @param signed names of the headers that are signed, in lower case
/// @param payload hash of the body, or the word for the way in which it is signed
/// @param token of a session; null for none
record Claim(String keyId, String date, String region, Instant time, @Nullable Duration life, Set<String> signed,
    String payload, @Nullable String token, String signature) {
  static final String ALGORITHM = "AWS4-HMAC-SHA256";
  static final String SIGNATURE = "X-Amz-Signature";
  private static final String UNSIGNED = "UNSIGNED-PAYLOAD";
  private static final String TOKEN = "X-Amz-Security-Token";
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
  private static final Pattern SCOPE =
      Pattern.compile("(.{1,1024})/(\\d{8})/([^/\\s]{1,64})/s3/aws4_request");
  private static final Pattern HEADER = Pattern.compile(
      ALGORITHM + "\\s+Credential=([^,]+),\\s*SignedHeaders=([^,]+),\\s*Signature=([0-9a-f]{64})\\s*");
  private static final int MOST_LIFE = 604_800;

  /// The claim of a request; empty if it makes none.
  ///
  /// @throws S3Exception if it is not of its form
  static Optional<Claim> of(HttpHeaders headers, Query query) {
    String header = headers.get(HttpHeaderNames.AUTHORIZATION);
    if (isVersionTwo(header, query)) {
      throw new S3Exception(S3Code.INVALID_REQUEST, "signature must be of version 4, " + ALGORITHM
          + " (was of version 2); clients have a setting for it, as signature_version s3v4 of boto3");
    }
    if (header != null) {
      return Optional.of(ofHeader(header, headers));
    }
    return query.has(SIGNATURE) || query.has("X-Amz-Algorithm")
        ? Optional.of(ofQuery(query, headers))
        : Optional.empty();
  }

  private static boolean isVersionTwo(@Nullable String header, Query query) {
    return header == null
        ? query.has("AWSAccessKeyId") && query.has("Signature")
        : header.startsWith("AWS ");
  }

  private static Claim ofHeader(String header, HttpHeaders headers) {
    Matcher form = HEADER.matcher(header);
    if (!form.matches()) {
      throw new S3Exception(S3Code.AUTHORIZATION_HEADER_MALFORMED, "Authorization must be " + ALGORITHM
          + " with Credential, SignedHeaders and Signature (has another form)");
    }
    Matcher scope = scope(form.group(1), S3Code.AUTHORIZATION_HEADER_MALFORMED);
    String payload = headers.get(BodyChecks.CONTENT_HASH);
    if (payload == null) {
      throw new S3Exception(S3Code.INVALID_REQUEST, BodyChecks.CONTENT_HASH + " must be given (was not)");
    }
    String sent = headers.get("x-amz-date", "");
    Instant time = sent.isEmpty() ? ofDate(headers.get(HttpHeaderNames.DATE, "")) : time(sent, S3Code.ACCESS_DENIED);
    return new Claim(scope.group(1), scope.group(2), scope.group(3), time, null, names(form.group(2)), payload,
        headers.get(TOKEN), form.group(3)).requireDay();
  }

  private static Claim ofQuery(Query query, HttpHeaders headers) {
    S3Code code = S3Code.AUTHORIZATION_QUERY_PARAMETERS_ERROR;
    if (!query.get("X-Amz-Algorithm", "").equals(ALGORITHM)) {
      throw new S3Exception(code, "X-Amz-Algorithm must be " + ALGORITHM + " (was "
          + query.get("X-Amz-Algorithm", "not given") + ")");
    }
    Matcher scope = scope(query.get("X-Amz-Credential", ""), code);
    String life = query.get("X-Amz-Expires", "");
    if (!life.matches("\\d{1,6}") || Integer.parseInt(life) > MOST_LIFE) {
      throw new S3Exception(code, "X-Amz-Expires must be from 0 to " + MOST_LIFE + " seconds (was "
          + (life.isEmpty() ? "not given" : life) + ")");
    }
    Set<String> signed = names(query.get("X-Amz-SignedHeaders", ""));
    String payload =
        signed.contains(BodyChecks.CONTENT_HASH) ? headers.get(BodyChecks.CONTENT_HASH, UNSIGNED) : UNSIGNED;
    return new Claim(scope.group(1), scope.group(2), scope.group(3), time(query.get("X-Amz-Date", ""), code),
        Duration.ofSeconds(Integer.parseInt(life)), signed, payload, query.get(TOKEN), query.get(SIGNATURE, ""))
        .requireDay();
  }

  private static Matcher scope(String credential, S3Code code) {
    Matcher scope = SCOPE.matcher(credential.strip());
    if (!scope.matches()) {
      throw new S3Exception(code, "credential must be KEY/yyyyMMdd/REGION/s3/aws4_request (has another form)");
    }
    return scope;
  }

  private static Set<String> names(String list) {
    return new LinkedHashSet<>(List.of(list.strip().split(";")));
  }

  private static Instant time(String text, S3Code code) {
    try {
      return TIME.parse(text, Instant::from);
    } catch (DateTimeException e) {
      throw new S3Exception(code,
          "X-Amz-Date must be yyyyMMdd'T'HHmmss'Z' (was " + (text.isEmpty() ? "not given" : text) + ")");
    }
  }

  private static Instant ofDate(String text) {
    try {
      return ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
    } catch (DateTimeException e) {
      throw new S3Exception(S3Code.ACCESS_DENIED, "request must have x-amz-date or Date (had neither)");
    }
  }

  private Claim requireDay() {
    if (!TIME.format(time).startsWith(date)) {
      throw new S3Exception(S3Code.AUTHORIZATION_HEADER_MALFORMED,
          "credential must have the day of the request, " + TIME.format(time).substring(0, date.length())
              + " (had " + date + ")");
    }
    return this;
  }

  boolean isInQuery() {
    return life != null;
  }
}
