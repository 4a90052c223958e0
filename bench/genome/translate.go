package genome

// aminoAcids are those of the standard genetic code (NCBI translation table 1), with
// codons in the order of the bases T, C, A, G.
const aminoAcids = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"

// translate translates whole codons of an aligned sequence. A codon of gaps is a
// gap; one with some gaps or an ambiguous base is X.
func translate(codons string) string {
	protein := make([]byte, 0, len(codons)/3)
	for i := 0; i+3 <= len(codons); i += 3 {
		protein = append(protein, aminoAcid(codons[i:i+3]))
	}
	return string(protein)
}

func aminoAcid(codon string) byte {
	if codon == "---" {
		return '-'
	}
	index := 0
	for i := range len(codon) {
		switch codon[i] {
		case 'T':
			index *= 4
		case 'C':
			index = index*4 + 1
		case 'A':
			index = index*4 + 2
		case 'G':
			index = index*4 + 3
		default:
			return 'X'
		}
	}
	return aminoAcids[index]
}
