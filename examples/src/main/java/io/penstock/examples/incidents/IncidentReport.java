package io.penstock.examples.incidents;

import org.jspecify.annotations.Nullable;

/// What came of an incident.
///
/// @param name of the incident
/// @param issue where it was reported
/// @param title what users saw
/// @param promise that the peer breaks
/// @param sha256 digest of the recording
/// @param events of the recording
/// @param difference first event that differed when it was played; null if none did
/// @param event number of the event that broke the promise; −1 if none was found
/// @param violation how it was broken
/// @param plays of the recording until the event was found
/// @param millis that this took
/// @param peer how it ended at the double of the peer
/// @param penstock how it ended on Penstock
/// @param broken how Penstock broke the promise; null if it did not
/// @param holds whether all is as it must be: the recording is the shipped one and plays to equal events, the search
///     finds the event, the peer fails, Penstock does not
record IncidentReport(String name, String issue, String title, String promise, String sha256, int events,
    @Nullable String difference, int event, @Nullable String violation, int plays, double millis, String peer,
    String penstock, @Nullable String broken, boolean holds) {}
