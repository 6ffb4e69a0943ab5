package io.penstock.wire.security;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.rsocket.metadata.AuthMetadataCodec;
import io.rsocket.metadata.CompositeMetadata;
import io.rsocket.metadata.CompositeMetadataCodec;
import io.rsocket.metadata.WellKnownMimeType;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;

/// Credentials of a client at SETUP, as RSocket's authentication metadata. Its text never has a secret in it.
public abstract sealed class Credentials {
  private static final String MIME_TYPE = WellKnownMimeType.MESSAGE_RSOCKET_AUTHENTICATION.getString();
  /// Maximum length of a secret.
  private static final int LONGEST = 1024;

  private Credentials() {}

  /// Nothing.
  public static Credentials none() {
    return new None();
  }

  /// A name and a password.
  public static Credentials simple(String user, char[] password) {
    return new Simple(user, password.clone());
  }

  /// A token.
  public static Credentials bearer(char[] token) {
    return new Bearer(token.clone());
  }

  /// Credentials in the value of the header `Authorization` of a request over HTTP.
  ///
  /// @return empty if it is neither of the form `Basic`, with a name, nor of the form `Bearer`, with a token
  public static Optional<Credentials> ofAuthorization(String value) {
    int space = value.indexOf(' ');
    String scheme = value.substring(0, Math.max(0, space)).toLowerCase(Locale.ROOT);
    String rest = value.substring(space + 1).strip();
    return switch (scheme) {
      case "bearer" -> rest.isEmpty() ? Optional.empty() : Optional.of(bearer(rest.toCharArray()));
      case "basic" -> ofBasic(rest);
      default -> Optional.empty();
    };
  }

  private static Optional<Credentials> ofBasic(String encoded) {
    try {
      String pair = new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8);
      int colon = pair.indexOf(':');
      return colon < 1
          ? Optional.empty()
          : Optional.of(simple(pair.substring(0, colon), pair.substring(colon + 1).toCharArray()));
    } catch (IllegalArgumentException e) { // it is not Base64
      return Optional.empty();
    }
  }

  /// The metadata of a SETUP.
  public abstract ByteBuf metadata(ByteBufAllocator alloc);

  /// The value of the header `Authorization` of a request over HTTP; empty for no credentials.
  public abstract String authorization();

  static final class None extends Credentials {
    @Override
    public ByteBuf metadata(ByteBufAllocator alloc) {
      return Unpooled.EMPTY_BUFFER;
    }

    @Override
    public String authorization() {
      return "";
    }

    @Override
    public String toString() {
      return "no credentials";
    }
  }

  static final class Simple extends Credentials {
    final String user;
    final char[] password;

    private Simple(String user, char[] password) {
      this.user = user;
      this.password = password;
    }

    @Override
    public ByteBuf metadata(ByteBufAllocator alloc) {
      return composite(alloc, AuthMetadataCodec.encodeSimpleMetadata(alloc, user.toCharArray(), password));
    }

    @Override
    public String authorization() {
      String pair = user + ":" + new String(password);
      return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
      return "a password of " + user;
    }
  }

  static final class Bearer extends Credentials {
    final char[] token;

    private Bearer(char[] token) {
      this.token = token;
    }

    @Override
    public ByteBuf metadata(ByteBufAllocator alloc) {
      return composite(alloc, AuthMetadataCodec.encodeBearerMetadata(alloc, token));
    }

    @Override
    public String authorization() {
      return "Bearer " + new String(token);
    }

    @Override
    public String toString() {
      return "a token";
    }
  }

  private static ByteBuf composite(ByteBufAllocator alloc, ByteBuf entry) {
    CompositeByteBuf metadata = alloc.compositeBuffer();
    CompositeMetadataCodec.encodeAndAddMetadata(metadata, alloc, WellKnownMimeType.MESSAGE_RSOCKET_AUTHENTICATION,
        entry);
    return metadata;
  }

  /// Credentials in the composite metadata of a SETUP, which stays the caller's; [#none()] if it has none.
  ///
  /// @return empty if it cannot be read, or has them twice, or of an unknown kind
  static Optional<Credentials> read(ByteBuf metadata) {
    Credentials found = null;
    try {
      for (CompositeMetadata.Entry entry : new CompositeMetadata(metadata, false)) {
        if (MIME_TYPE.equals(entry.getMimeType())) {
          if (found != null || entry.getContent().readableBytes() > LONGEST) {
            return Optional.empty();
          }
          found = entry(entry.getContent());
        }
      }
    } catch (IllegalArgumentException | IllegalStateException | IndexOutOfBoundsException e) {
      return Optional.empty(); // bytes that are no metadata
    }
    return Optional.of(found == null ? none() : found);
  }

  private static Credentials entry(ByteBuf content) {
    return switch (AuthMetadataCodec.readWellKnownAuthType(content)) {
      case SIMPLE -> {
        String user = new String(AuthMetadataCodec.readUsernameAsCharArray(content));
        yield new Simple(user, AuthMetadataCodec.readPasswordAsCharArray(content));
      }
      case BEARER -> new Bearer(AuthMetadataCodec.readBearerTokenAsCharArray(content));
      default -> throw new IllegalArgumentException("type of authentication must be simple or bearer (was not)");
    };
  }
}
