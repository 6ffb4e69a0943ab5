package io.penstock.wire.cluster;

import static java.util.Objects.requireNonNull;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// What the tenants of one gateway have used, as it tells the others.
///
/// @param gateway names this start of it
/// @param url where its clients ask
/// @param number of the telling; grows
/// @param tenants at most [#MOST_TENANTS]
public record GatewayUse(String gateway, String url, long number, List<OfTenant> tenants) {
  /// Tenants that one telling names.
  public static final int MOST_TENANTS = 1024;
  private static final int MOST_CHARS = 256;

  public GatewayUse {
    require("gateway", gateway);
    require("url", url);
    if (gateway.isEmpty() || number < 0) {
      throw new IllegalArgumentException(
          "gateway must have a name and number be >= 0 (was " + gateway + ", " + number + ")");
    }
    tenants = List.copyOf(tenants);
    if (tenants.size() > MOST_TENANTS) {
      throw new IllegalArgumentException("tenants must be <= " + MOST_TENANTS + " (was " + tenants.size() + ")");
    }
  }

  private static void require(String field, String text) {
    if (requireNonNull(text, field).length() > MOST_CHARS) {
      throw new IllegalArgumentException(field + " must have at most " + MOST_CHARS + " characters (was "
          + text.length() + ")");
    }
  }

  /// The use of one tenant at one gateway.
  ///
  /// @param requests since the gateway began
  /// @param tokens since then
  /// @param running requests now
  /// @param requestsLeft of the quota, by what the gateway knows of all of them; below 0 for what is owed
  /// @param tokensLeft likewise
  public record OfTenant(String name, long requests, long tokens, int running, double requestsLeft,
      double tokensLeft) {
    public OfTenant {
      require("tenant", name);
      if (requests < 0 || tokens < 0 || running < 0 || !Double.isFinite(requestsLeft) || !Double.isFinite(tokensLeft)) {
        throw new IllegalArgumentException(
            "use of a tenant must be >= 0, and what is left finite (was %d, %d, %d, %s, %s)"
                .formatted(requests, tokens, running, requestsLeft, tokensLeft));
      }
    }
  }

  /// The tenants as bytes: for each its name as `DataOutput` writes text, three numbers of 8, 8 and 4 bytes, and two
  /// floating-point numbers of 8.
  public byte[] packed() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      for (OfTenant tenant : tenants) {
        out.writeUTF(tenant.name);
        out.writeLong(tenant.requests);
        out.writeLong(tenant.tokens);
        out.writeInt(tenant.running);
        out.writeDouble(tenant.requestsLeft);
        out.writeDouble(tenant.tokensLeft);
      }
    } catch (IOException e) {
      throw new IllegalStateException("memory takes all bytes", e);
    }
    return bytes.toByteArray();
  }

  /// @param packed as [#packed] says
  /// @throws IllegalArgumentException if the bytes are none of that
  public static GatewayUse of(String gateway, String url, long number, byte[] packed) {
    List<OfTenant> tenants = new ArrayList<>();
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(packed))) {
      while (in.available() > 0 && tenants.size() <= MOST_TENANTS) {
        tenants.add(new OfTenant(in.readUTF(), in.readLong(), in.readLong(), in.readInt(), in.readDouble(),
            in.readDouble()));
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("use of tenants must be packed as the protocol says (was not)", e);
    }
    return new GatewayUse(gateway, url, number, tenants);
  }

  /// This as the value of a [SharedTable]: a version, the names, and the packed tenants.
  byte[] value() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeLong(number);
      out.writeLong(0);
      out.writeLong(0);
      out.writeUTF(gateway);
      out.writeUTF(url);
      out.write(packed());
    } catch (IOException e) {
      throw new IllegalStateException("memory takes all bytes", e);
    }
    return bytes.toByteArray();
  }

  /// @throws IllegalArgumentException if the bytes are no value
  static GatewayUse of(byte[] value) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(value))) {
      long number = in.readLong();
      in.skipNBytes(SharedTable.VERSION_BYTES - Long.BYTES);
      return of(in.readUTF(), in.readUTF(), number, in.readAllBytes());
    } catch (IOException e) {
      throw new IllegalArgumentException("value must be that of a gateway (was not)", e);
    }
  }
}
