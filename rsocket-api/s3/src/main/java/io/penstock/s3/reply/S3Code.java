package io.penstock.s3.reply;

/// Error codes of S3 that this door answers, with their statuses of HTTP.
public enum S3Code {
  ACCESS_DENIED("AccessDenied", 403),
  AUTHORIZATION_HEADER_MALFORMED("AuthorizationHeaderMalformed", 400),
  AUTHORIZATION_QUERY_PARAMETERS_ERROR("AuthorizationQueryParametersError", 400),
  BAD_DIGEST("BadDigest", 400),
  CONDITIONAL_REQUEST_CONFLICT("ConditionalRequestConflict", 409),
  ENTITY_TOO_LARGE("EntityTooLarge", 400),
  INCOMPLETE_BODY("IncompleteBody", 400),
  INTERNAL_ERROR("InternalError", 500),
  INVALID_ACCESS_KEY_ID("InvalidAccessKeyId", 403),
  INVALID_ARGUMENT("InvalidArgument", 400),
  INVALID_BUCKET_NAME("InvalidBucketName", 400),
  INVALID_DIGEST("InvalidDigest", 400),
  INVALID_PART("InvalidPart", 400),
  INVALID_PART_NUMBER("InvalidPartNumber", 416),
  INVALID_PART_ORDER("InvalidPartOrder", 400),
  INVALID_RANGE("InvalidRange", 416),
  INVALID_REQUEST("InvalidRequest", 400),
  INVALID_TOKEN("InvalidToken", 400),
  KEY_TOO_LONG("KeyTooLongError", 400),
  MALFORMED_TRAILER("MalformedTrailerError", 400),
  MALFORMED_XML("MalformedXML", 400),
  METADATA_TOO_LARGE("MaxMessageLengthExceeded", 400),
  METHOD_NOT_ALLOWED("MethodNotAllowed", 405),
  MISSING_CONTENT_LENGTH("MissingContentLength", 411),
  NO_SUCH_BUCKET("NoSuchBucket", 404),
  NO_SUCH_KEY("NoSuchKey", 404),
  NO_SUCH_UPLOAD("NoSuchUpload", 404),
  NOT_IMPLEMENTED("NotImplemented", 501),
  PRECONDITION_FAILED("PreconditionFailed", 412),
  REQUEST_HEADERS_TOO_LARGE("RequestHeaderSectionTooLarge", 400),
  REQUEST_TIME_TOO_SKEWED("RequestTimeTooSkewed", 403),
  REQUEST_TIMEOUT("RequestTimeout", 400),
  SERVICE_UNAVAILABLE("ServiceUnavailable", 503),
  SHA256_MISMATCH("XAmzContentSHA256Mismatch", 400),
  SIGNATURE_DOES_NOT_MATCH("SignatureDoesNotMatch", 403),
  SLOW_DOWN("SlowDown", 503);

  private final String text;
  private final int status;

  S3Code(String text, int status) {
    this.text = text;
    this.status = status;
  }

  /// As clients read it.
  public String text() {
    return text;
  }

  /// Status of the response.
  public int status() {
    return status;
  }
}
