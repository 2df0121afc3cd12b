package record

// Statement is a reason or a remark as data. Package wording has the words for each code.
type Statement struct {
	Code string `json:"code"`
	// Args has the names, values and figures for the words, as they are shown, in the order that
	// the comment of the code gives. An empty string is unknown or does not apply.
	Args []string `json:"args,omitempty"`
}

// Reasons for the verdict on a setting (TuneSetting.Reasons). ALONE is the effect of the setting by
// itself, WITHOUT that of the list without it.
const (
	WhyNotAlone       = "not-alone"                  // only the list as a whole was tried
	WhyAlone          = "alone"                      // ALONE shows it
	WhyAloneMissed    = "alone-missed"               // helps: ALONE improves, WITHOUT worsens
	WhyAloneSpare     = "alone-spare"                // helps: ALONE improves, WITHOUT makes no difference
	WhyMissed         = "missed"                     // helps: WITHOUT worsens
	WhyMissedAlthough = "missed-although"            // helps: WITHOUT worsens, although ALONE does as well
	WhyAloneBetter    = "alone-better"               // harms: ALONE worsens, WITHOUT improves
	WhyBetter         = "better"                     // harms: WITHOUT improves
	WhyHelpsOrHarms   = "helps-alone-harms-in-list"  // depends: ALONE and WITHOUT improve
	WhyHarmsOrHelps   = "harms-alone-missed-in-list" // depends: ALONE and WITHOUT worsen
	WhyOpen           = "open"                       // inconclusive: place (PlaceAlone or PlaceWithout) of the effect
	WhyIncomplete     = "incomplete"                 // trials are missing
	WhyResponse       = "response"                   // response, place: the effect in another response
	WhyDepends        = "depends"                    // response, code of why it depends
	WhyPart           = "part"                       // kept as a part of what is proven
	WhyNeeded         = "needed"                     // TuneSetting.Needed
	WhyBeside         = "beside"                     // TuneSetting.Beside
	WhyKeptOpen       = "kept-open"                  // kept, and not shown to be needed
	WhySpare          = "spare"                      // helps, and is not needed with what is kept
	WhyNotShown       = "not-shown"                  // begins the reasons of a verdict that the proof does not show
)

// Places of an effect in the Args of a Statement: TuneSetting.Alone or TuneSetting.Removed.
const (
	PlaceAlone   = "alone"
	PlaceWithout = "without"
)

// Reasons why a setting is not tried (TuneSetting.Reasons), in addition to the Lint codes. Most comments
// list the Args.
const (
	UntriedSystem      = "other-system" // the operating system that the file is for
	UntriedPattern     = "pattern"      // the key stands for several parameters
	UntriedNoInterface = "no-interface" // host, interface
	UntriedUnit        = "unit"         // the value is in another unit; Advice of the lint finding follows
	UntriedMachine     = "machine-wide" // the parameter is not per namespace, and the hosts are a lab's
	UntriedRefused     = "host-refused" // host (empty: the sender), its error
	UntriedAsItIs      = "as-it-is"     // every host has the value
	UntriedMadeWith    = "made-with"    // the lab's hosts are created with the value
	UntriedBound       = "bound"        // tuned's bound, ">" or "<"
	UntriedNoControl   = "no-control"   // congestion control, the available ones
	UntriedSameControl = "same-control" // the flows use it
	UntriedKind        = "other-kind"   // tune tries kernel parameters and options of NICs and CPUs
	UntriedCorrection  = "correction"   // the line that would be right: only what the file says is tried
	UntriedCondition   = "condition"    // the lines that set it to different values, by a condition
	UntriedTwice       = "twice-tried"  // the line that is tried in its place, which is for something else
	UntriedOtherFlows  = "other-flows"  // not all flows are linerate's own over TCP
)
